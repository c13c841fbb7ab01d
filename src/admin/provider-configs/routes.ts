// The rows of the admin listener about keys of providers: method, path, permission, handler.

import { account, type ApiRow } from '../api/api-types.ts'
import { always } from '../api/lasting-access.ts'
import { jsonBody } from '../http/request-body.ts'
import { createProviderConfig, deleteProviderConfig, listProviderConfigs } from './provider-configs.ts'

const configs = `${account}/ai-gateway/gateways/{gateway_id}/provider_configs`
const permission = 'AI Gateway Edit'

export const providerConfigRows: readonly ApiRow[] = [
  {
    method: 'POST',
    path: configs,
    permission,
    body: jsonBody,
    lastingAccess: always('set keys of providers'),
    handle: createProviderConfig,
  },
  {
    method: 'GET',
    path: configs,
    permission,
    query: ['page', 'per_page'],
    handle: listProviderConfigs,
  },
  {
    method: 'DELETE',
    path: `${configs}/{config_id}`,
    permission,
    lastingAccess: 'nothing',
    handle: deleteProviderConfig,
  },
]
