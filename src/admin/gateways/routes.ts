// The rows of the admin listener about AI gateways: method, path, permission, handler.

import { jsonBody } from '../http/request-body.ts'
import { pageParameters } from '../http/query.ts'
import { account, type ApiRow } from '../api/api-types.ts'
import {
  createGateway,
  deleteGateway,
  getGateway,
  listGateways,
  openGateway,
  updateGateway,
} from './gateways.ts'
import { listGatewayBudgets, resetGatewayBudget } from './budgets.ts'
import { deleteStoredResponses, getStoredResponses } from './stored-responses.ts'
import { getProviderUrl } from './url.ts'
import { listGatewayRateLimits } from './rate-limits.ts'

const gateways = `${account}/ai-gateway/gateways`
const gateway = `${account}/ai-gateway/gateways/{gateway_id}`
const listOfGateways = [...pageParameters, 'search']

export const gatewayRows: readonly ApiRow[] = [
  {
    method: 'POST',
    path: gateways,
    permission: 'AI Gateway Edit',
    body: jsonBody,
    lastingAccess: openGateway,
    handle: createGateway,
  },
  {
    method: 'GET',
    path: gateways,
    permission: 'AI Gateway Read',
    query: listOfGateways,
    handle: listGateways,
  },
  { method: 'GET', path: gateway, permission: 'AI Gateway Read', handle: getGateway },
  {
    method: 'GET',
    path: `${gateway}/rate_limits`,
    permission: 'AI Gateway Read',
    handle: listGatewayRateLimits,
  },
  {
    method: 'GET',
    path: `${gateway}/stored_responses`,
    permission: 'AI Gateway Read',
    handle: getStoredResponses,
  },
  {
    method: 'DELETE',
    path: `${gateway}/stored_responses`,
    permission: 'AI Gateway Edit',
    lastingAccess: 'nothing',
    handle: deleteStoredResponses,
  },
  {
    method: 'GET',
    path: `${gateway}/budgets`,
    permission: 'AI Gateway Read',
    handle: listGatewayBudgets,
  },
  {
    method: 'POST',
    path: `${gateway}/budgets/{budget_id}/reset`,
    permission: 'AI Gateway Edit',
    lastingAccess: 'nothing',
    handle: resetGatewayBudget,
  },
  {
    method: 'GET',
    path: `${gateway}/url/{provider}`,
    permission: 'AI Gateway Read',
    handle: getProviderUrl,
  },
  {
    method: 'PUT',
    path: gateway,
    permission: 'AI Gateway Edit',
    body: jsonBody,
    headers: ['if-match'],
    lastingAccess: openGateway,
    handle: updateGateway,
  },
  {
    method: 'DELETE',
    path: gateway,
    permission: 'AI Gateway Edit',
    lastingAccess: 'nothing',
    handle: deleteGateway,
  },
]
