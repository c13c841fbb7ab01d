// The handler of the scopes that an OAuth client can ask for.

import { scopesWith } from '../../permissions/scopes.ts'
import type { Api } from '../api/api-types.ts'
import { type ApiResponse, list } from '../http/envelope.ts'

export function listScopes(_: unknown, { zones }: Api): ApiResponse {
  const all = scopesWith(zones.ofAll().scopes)
  const result = all.map(({ isIdentity, isOwn: _, ...scope }) => ({ ...scope, is_identity: isIdentity }))
  return list(result, { page: 1, perPage: all.length, total: all.length })
}
