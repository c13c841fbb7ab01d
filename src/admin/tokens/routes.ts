// The rows of the admin listener that are about API tokens: method, path, permission, handler.

import { jsonBody } from '../request/input.ts'
import { pageParameters } from '../request/query.ts'
import { always } from '../outlasting.ts'
import { account, type ApiRow } from '../row.ts'
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
const listOfTokens = [...pageParameters, 'direction', 'include_expired']

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
    outlasting: always('create an API token'),
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
    outlasting: always('change an API token'),
    handle: updateToken,
  },
  {
    method: 'DELETE',
    path: token,
    permission: 'API Tokens Write',
    outlasting: 'nothing',
    handle: deleteToken,
  },
  {
    method: 'PUT',
    path: `${token}/value`,
    permission: 'API Tokens Write',
    headers: ['idempotency-key'],
    outlasting: always('roll an API token'),
    handle: rollToken,
  },
]
