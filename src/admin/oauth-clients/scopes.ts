// The handler of the scopes that an OAuth client can ask for.

import { oauthScopes } from '../../permissions/scopes.ts'
import { type ApiResponse, list } from '../http/envelope.ts'

export function listScopes(): ApiResponse {
  const total = oauthScopes.length
  const result = oauthScopes.map(({ isIdentity, ...scope }) => ({ ...scope, is_identity: isIdentity }))
  return list(result, { page: 1, perPage: total, total })
}
