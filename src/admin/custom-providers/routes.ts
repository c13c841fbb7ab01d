// The rows of the admin listener about custom providers: method, path, permission, handler.

import { account, type ApiRow } from '../api/api-types.ts'
import { always } from '../api/lasting-access.ts'
import { pageParameters } from '../http/query.ts'
import { jsonBody } from '../http/request-body.ts'
import {
  createCustomProvider,
  deleteCustomProvider,
  getCustomProvider,
  listCustomProviders,
  updateCustomProvider,
} from './custom-providers.ts'

const providers = `${account}/ai-gateway/custom-providers`
const provider = `${providers}/{slug}`
const edit = { permission: 'AI Gateway Edit' } as const
const read = { method: 'GET', permission: 'AI Gateway Read' } as const
const lastingAccess = always('add or change providers')

export const customProviderRows: readonly ApiRow[] = [
  { method: 'POST', path: providers, ...edit, body: jsonBody, lastingAccess, handle: createCustomProvider },
  {
    ...read,
    path: providers,
    query: [...pageParameters, 'search', 'enable', 'beta'],
    handle: listCustomProviders,
  },
  { ...read, path: provider, handle: getCustomProvider },
  { method: 'PATCH', path: provider, ...edit, body: jsonBody, lastingAccess, handle: updateCustomProvider },
  { method: 'DELETE', path: provider, ...edit, lastingAccess: 'nothing', handle: deleteCustomProvider },
]
