// The operations of API tokens, for the document of the API.

import { json, many, one, refusal, tagged } from '../schema/operation.ts'
import { about, id, listOf, named, oneOf, open, page, success, text } from '../schema/schema.ts'
import { pageQuery } from '../schema/query-schemas.ts'
import { changedToken, createdToken, newToken, permissionGroup, value, verifiedToken } from './schemas.ts'
import { resourcePrefix } from './body.ts'

const tokens = '/client/v4/accounts/{account_id}/tokens'
const token = `${tokens}/{token_id}`

const reach =
  'A token cannot allow more than the token that creates or changes it, nor for longer, from more addresses, or on more gateways and models, and one with spend limits cannot create or change any that runs models. An app that acts for a user can only list and delete tokens.'

const example = {
  name: 'Calls models from the office',
  policies: [
    {
      effect: 'allow',
      permission_groups: [{ name: 'AI Gateway Run' }],
      resources: { [`${resourcePrefix}0123456789abcdef0123456789abcdef`]: '*' },
    },
  ],
  condition: { request_ip: { in: ['127.0.0.0/8', '192.0.2.0/24'] } },
  gateways: ['default', 'team-*'],
  models: ['openai/gpt-4o*', 'fast'],
  spend_limits: {
    rules: [
      { limit: 0.1, limitType: 'cost', window: 'day' },
      { limit: 10_000, limitType: 'tokens', window: 60 },
      { limit: 4, limitType: 'concurrency' },
    ],
  },
  expires_on: '2099-12-31T23:59:59Z',
}

const ownTokens = '/client/v4/user/tokens'
const { cursor: _, ...countedPages } = pageQuery

export const tokenOperations = tagged('API tokens', {
  [`GET ${tokens}/verify`]: {
    id: 'verifyToken',
    summary: 'Check the token of this request',
    response: json(success(verifiedToken)),
  },
  [`GET ${tokens}/permission_groups`]: {
    id: 'listPermissionGroups',
    summary: 'List the permissions that tokens can have',
    query: {
      name: about('Only the one of this name.', text),
      scope: about('Only those for this kind of resource.', text),
    },
    response: json(page(permissionGroup)),
  },
  [`POST ${tokens}`]: {
    id: 'createToken',
    summary: 'Create a token',
    description: reach,
    body: { schema: newToken, examples: { 'Time-limited, from some networks': example } },
    response: json(success(createdToken)),
  },
  [`GET ${tokens}`]: {
    id: 'listTokens',
    summary: 'List tokens',
    query: {
      ...pageQuery,
      direction: about('By creation; `asc` by default.', oneOf(['asc', 'desc'])),
      include_expired: about('`false` by default.', oneOf(['false', 'true'])),
      name: about('Part of the name, case-insensitive.', text),
    },
    response: many('Token'),
  },
  [`GET ${token}`]: {
    id: 'getToken',
    summary: 'Show a token, without its value',
    response: one('Token', ['etag']),
  },
  [`PUT ${token}`]: {
    id: 'updateToken',
    summary: 'Change a token',
    description: `The body replaces all settings. ${reach}`,
    body: { schema: changedToken, examples: { Disabled: { ...example, status: 'disabled' } } },
    response: one('Token', ['etag']),
  },
  [`DELETE ${token}`]: {
    id: 'deleteToken',
    summary: 'Delete a token',
    description: 'It ends at once.',
    response: json(success(open({ id }))),
  },
  [`PUT ${token}/value`]: {
    id: 'rollToken',
    summary: 'Give a token a new value',
    description: 'The old value ends at once.',
    response: json(success(value)),
    refusals: [refusal('personal_token')],
  },
  [`GET ${token}/budgets`]: {
    id: 'listTokenBudgets',
    summary: 'Show what is spent of the budgets of a token',
    description: 'The rules of its `spend_limits` that are in effect, each with its one budget.',
    response: json(success(listOf(named('Budgets')))),
  },
  [`POST ${token}/budgets/{budget_id}/reset`]: {
    id: 'resetTokenBudget',
    summary: 'Start a budget of a token over',
    description:
      'By the id of the budget or of its rule. What calls under way have reserved stays reserved. The audit log has an entry. A token with spend limits cannot do this for one that runs models.',
    response: json(success(named('Budgets'))),
  },
  [`GET ${ownTokens}`]: {
    id: 'listUserTokens',
    summary: 'List the tokens that the user has made for themselves',
    query: { ...countedPages, account_id: about('Only those of this account.', id) },
    response: many('Token'),
  },
  [`DELETE ${ownTokens}/{token_id}`]: {
    id: 'deleteUserToken',
    summary: 'Delete a token that the user has made for themselves',
    description: 'It ends at once.',
    response: json(success(open({ id }))),
  },
  [`GET ${ownTokens}/{token_id}/budgets`]: {
    id: 'listUserTokenBudgets',
    summary: 'Show what is spent of the budgets of a token that the user has made for themselves',
    response: json(success(listOf(named('Budgets')))),
  },
})
