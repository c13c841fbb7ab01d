// The rows of the admin listener about API tokens: method, path, permission, handler.

import { jsonBody } from '../http/request-body.ts'
import { pageParameters } from '../http/query.ts'
import { always } from '../api/lasting-access.ts'
import { account, type ApiRow, row, user, type UserRow } from '../api/api-types.ts'
import { listOwnTokenBudgets, listTokenBudgets, resetTokenBudget } from './budgets.ts'
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
  row('GET', `${tokens}/verify`, null, verifyToken),
  row('GET', `${tokens}/permission_groups`, 'API Tokens Read', listPermissionGroups, {
    query: ['name', 'scope'],
  }),
  row('POST', tokens, 'API Tokens Write', createToken, {
    body: jsonBody,
    headers: ['idempotency-key'],
    lastingAccess: always('create an API token'),
  }),
  row('GET', tokens, 'API Tokens Read', listTokens, { query: listOfTokens }),
  row('GET', token, 'API Tokens Read', getToken),
  row('PUT', token, 'API Tokens Write', updateToken, {
    body: jsonBody,
    headers: ['if-match'],
    lastingAccess: always('change an API token'),
  }),
  row('DELETE', token, 'API Tokens Write', deleteToken),
  row('PUT', `${token}/value`, 'API Tokens Write', rollToken, {
    headers: ['idempotency-key'],
    lastingAccess: always('roll an API token'),
  }),
  row('GET', `${token}/budgets`, 'API Tokens Read', listTokenBudgets),
  row('POST', `${token}/budgets/{budget_id}/reset`, 'API Tokens Write', resetTokenBudget, {
    lastingAccess: 'nothing',
  }),
]

const ownTokens = `${user}/tokens`

/** The document lacks the creation: only the pages can request it, before the person has a token. */
export const ownTokenRows: readonly UserRow[] = [
  row('POST', ownTokens, null, createOwnToken, {
    scope: 'user_access.write',
    body: jsonBody,
    headers: ['idempotency-key'],
    lastingAccess: always('create an API token'),
  }),
  row('GET', ownTokens, null, listOwnTokens, {
    scope: 'user_access.read',
    query: ['page', 'per_page', 'account_id'],
  }),
  row('DELETE', `${ownTokens}/{token_id}`, null, deleteOwnToken, { scope: 'user_access.write' }),
  row('GET', `${ownTokens}/{token_id}/budgets`, null, listOwnTokenBudgets, { scope: 'user_access.read' }),
]
