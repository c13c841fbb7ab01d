// The rows of the admin listener about API tokens: method, path, permission, handler.

import { jsonBody } from '../http/request-body.ts'
import { pageParameters } from '../http/query.ts'
import { always } from '../api/lasting-access.ts'
import { account, type ApiRow, user, type UserRow } from '../api/api-types.ts'
import { createOwnToken, deleteOwnToken, listOwnTokens } from './own-tokens.ts'
import {
  createToken,
  deleteToken,
  getToken,
  listPermissionGroups,
  listTokens,
  rollToken,
  updateToken,
  verifyToken,
} from './tokens.ts'

const tokens = `${account}/tokens`
const token = `${account}/tokens/{token_id}`
const listOfTokens = [...pageParameters, 'direction', 'include_expired', 'name']

export const tokenRows: readonly ApiRow[] = [
  { method: 'GET', path: `${tokens}/verify`, permission: null, handle: verifyToken },
  {
    method: 'GET',
    path: `${tokens}/permission_groups`,
    permission: 'API Tokens Read',
    query: ['name', 'scope'],
    handle: listPermissionGroups,
  },
  {
    method: 'POST',
    path: tokens,
    permission: 'API Tokens Write',
    body: jsonBody,
    headers: ['idempotency-key'],
    lastingAccess: always('create an API token'),
    handle: createToken,
  },
  { method: 'GET', path: tokens, permission: 'API Tokens Read', query: listOfTokens, handle: listTokens },
  { method: 'GET', path: token, permission: 'API Tokens Read', handle: getToken },
  {
    method: 'PUT',
    path: token,
    permission: 'API Tokens Write',
    body: jsonBody,
    headers: ['if-match'],
    lastingAccess: always('change an API token'),
    handle: updateToken,
  },
  {
    method: 'DELETE',
    path: token,
    permission: 'API Tokens Write',
    lastingAccess: 'nothing',
    handle: deleteToken,
  },
  {
    method: 'PUT',
    path: `${token}/value`,
    permission: 'API Tokens Write',
    headers: ['idempotency-key'],
    lastingAccess: always('roll an API token'),
    handle: rollToken,
  },
]

const ownTokens = `${user}/tokens`

/**
 * People's own tokens. The document lacks the creation: only the pages can request it, since a person has no
 * token before.
 */
export const ownTokenRows: readonly UserRow[] = [
  {
    method: 'POST',
    path: ownTokens,
    permission: null,
    scope: 'user_access.write',
    body: jsonBody,
    headers: ['idempotency-key'],
    lastingAccess: always('create an API token'),
    handle: createOwnToken,
  },
  {
    method: 'GET',
    path: ownTokens,
    permission: null,
    scope: 'user_access.read',
    query: ['page', 'per_page', 'account_id'],
    handle: listOwnTokens,
  },
  {
    method: 'DELETE',
    path: `${ownTokens}/{token_id}`,
    permission: null,
    scope: 'user_access.write',
    lastingAccess: 'nothing',
    handle: deleteOwnToken,
  },
]
