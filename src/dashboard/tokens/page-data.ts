// The paths of API tokens in the management API.

import { apiPath } from '../page/api-client.ts'
import type { PageRequest } from '../page/page-request.ts'

/** Returns the path of the tokens of the account in the API. */
export function tokensOf({ account }: PageRequest): string {
  return apiPath('accounts', account.id, 'tokens')
}

/** Returns the path of the token of the page in the API. */
export function tokenOf({ account, params }: PageRequest): string {
  return apiPath('accounts', account.id, 'tokens', params.token!)
}
