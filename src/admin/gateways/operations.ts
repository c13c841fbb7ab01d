// The operations of AI gateways, for the document of the API.

import { json, type Operation, refusal } from '../schema/operation.ts'
import { about, listOf, named, page, success, text } from '../schema/schema.ts'
import { changedGateway, newGateway, storedSize } from './schemas.ts'
import { pageQuery } from '../schema/query-schemas.ts'

const tag = 'AI gateways'
const gateways = '/client/v4/accounts/{account_id}/ai-gateway/gateways'
const gateway = `${gateways}/{gateway_id}`

export const gatewayOperations: Readonly<Record<string, Operation>> = {
  [`POST ${gateways}`]: {
    id: 'createGateway',
    tag,
    summary: 'Create an AI gateway',
    description: 'Settings left out get safe defaults: calls need a token, and no bodies are stored.',
    body: {
      schema: newGateway,
      examples: {
        'With only its id': { id: 'support' },
        'With bodies of the last 1,000 calls': {
          id: 'try-out',
          authentication: true,
          collect_logs: true,
          log_management: 1000,
          log_management_strategy: 'DELETE_OLDEST',
        },
        'With 100 USD a month, and 1 USD a day for each token': {
          id: 'team',
          spend_limits: {
            rules: [
              { limit: 100, limitType: 'cost', window: 'month', time_zone: 'Europe/Berlin' },
              { limit: 1, limitType: 'cost', window: 86_400, token: { mode: 'partition' } },
            ],
          },
        },
      },
    },
    response: json(success(named('Gateway')), ['etag']),
    refusals: [refusal('gateway_taken'), refusal('beyond_token')],
  },
  [`GET ${gateways}`]: {
    id: 'listGateways',
    tag,
    summary: 'List AI gateways',
    query: { ...pageQuery, search: about('Part of the id.', text) },
    response: json(page(named('Gateway'))),
  },
  [`GET ${gateway}`]: {
    id: 'getGateway',
    tag,
    summary: 'Show an AI gateway',
    response: json(success(named('Gateway')), ['etag']),
  },
  [`GET ${gateway}/rate_limits`]: {
    id: 'listGatewayRateLimits',
    tag,
    summary: 'Show the rate limit of an AI gateway, with the tokens and apps nearest to it',
    description:
      'An empty list if the gateway has none. What was counted lately; a key that no process has in memory is not among the nearest.',
    response: json(success(listOf(named('GatewayRateLimit')))),
  },
  [`GET ${gateway}/stored_responses`]: {
    id: 'getStoredResponses',
    tag,
    summary: 'Show how many responses an AI gateway has stored',
    description:
      'Those that equal calls may reuse, and those of calls with an Idempotency-Key; expired ones may be among them. Beside it, how many of the calls of the last 24 hours had the response of another one, as far as they are in the logs.',
    response: json(success(named('StoredResponses'))),
  },
  [`DELETE ${gateway}/stored_responses`]: {
    id: 'deleteStoredResponses',
    tag,
    summary: 'Delete the responses that an AI gateway has stored',
    description:
      'None of them is given to a call any more, on every machine within a second. A call with an Idempotency-Key that was made before is not made again: it is refused. The audit log has an entry.',
    response: json(success(storedSize)),
  },
  [`GET ${gateway}/budgets`]: {
    id: 'listGatewayBudgets',
    tag,
    summary: 'Show what is spent of the budgets of an AI gateway',
    description:
      'The rules of `spend_limits` that are in effect. A rule with partitions has the budgets of which something is spent or reserved, the most spent first, as far as the values are known: from the latest log entries, the tokens and the consents.',
    response: json(success(listOf(named('Budgets')))),
  },
  [`POST ${gateway}/budgets/{budget_id}/reset`]: {
    id: 'resetGatewayBudget',
    tag,
    summary: 'Start a budget of an AI gateway over',
    description:
      'By the id of a rule, for all its budgets that would be listed, or by that of a budget. What calls under way have reserved stays reserved. The audit log has an entry.',
    response: json(success(named('Budgets'))),
  },
  [`GET ${gateway}/url/{provider}`]: {
    id: 'getProviderUrl',
    tag,
    summary: 'Show the URL at which calls reach a provider by an AI gateway',
    response: json(success(text)),
    refusals: [refusal('no_such_provider'), refusal('no_ai_host')],
  },
  [`PUT ${gateway}`]: {
    id: 'updateGateway',
    tag,
    summary: 'Change an AI gateway',
    description: 'The body replaces all settings, except that `authentication` stays as it is if left out.',
    body: { schema: changedGateway, examples: { 'Open to every caller': { authentication: false } } },
    response: json(success(named('Gateway')), ['etag']),
    refusals: [refusal('beyond_token')],
  },
  [`DELETE ${gateway}`]: {
    id: 'deleteGateway',
    tag,
    summary: 'Delete an AI gateway and its log entries',
    response: json(success(named('Gateway'))),
  },
}
