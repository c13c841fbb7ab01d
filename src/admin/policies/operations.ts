// The operations of the policies of gateways, for the document of the API.

import { json, many, one, type Operation, refusal } from '../schema/operation.ts'
import { pageQuery } from '../schema/query-schemas.ts'
import { listOf, success } from '../schema/schema.ts'
import {
  changedPolicy,
  commitResponse,
  newPolicy,
  policyBudgets,
  rollback,
  simulation,
  simulationResult,
  state,
} from './schemas.ts'

const tag = 'Policies'
const policies = '/client/v4/accounts/{account_id}/ai-gateway/gateways/{gateway_id}/policies'
const policy = `${policies}/{policy_id}`
const aPolicy = one('GatewayPolicy', ['etag'])
const aDraft = one('PolicyDraft', ['etag'])
const paging = { page: pageQuery.page!, per_page: pageQuery.per_page! }

const everybody = {
  name: 'Ten dollars a day for each user',
  actor: 'user:{svc.user.id}',
  resource: '*',
  action: { type: 'limit', amount: 10, period: 'daily', time_zone: 'Europe/Berlin' },
}
const onlyApproved = {
  name: 'Approved providers',
  actor: '*',
  resource: { provider: ['openai', 'anthropic'] },
  action: { type: 'block', except: true },
}
const expensive = {
  name: 'Large models for research',
  actor: 'team:research',
  resource: { model: ['gpt-5*', 'anthropic/claude-opus-*'] },
  condition: 'metadata.project.startsWith("r-")',
  action: { type: 'no-limit' },
}

export const policyOperations: Readonly<Record<string, Operation>> = {
  [`POST ${policies}`]: {
    id: 'createGatewayPolicy',
    tag,
    summary: 'Add a policy to the draft',
    description:
      'A draft starts with the policies in effect and applies once it is committed. One etag covers all of it. A gateway has at most 100 policies.',
    body: {
      schema: newPolicy,
      examples: {
        'A limit for each user': everybody,
        'Some providers alone': onlyApproved,
        'Models for a team': expensive,
      },
    },
    response: aPolicy,
    refusals: [refusal('policy_taken'), refusal('too_many_policies')],
  },
  [`GET ${policies}`]: {
    id: 'listGatewayPolicies',
    tag,
    summary: 'List policies of the draft, or those in effect',
    query: { ...paging, state },
    response: many('GatewayPolicy', ['etag']),
  },
  [`GET ${policy}`]: {
    id: 'getGatewayPolicy',
    tag,
    summary: 'Show a policy of the draft',
    response: aPolicy,
  },
  [`PUT ${policy}`]: {
    id: 'updateGatewayPolicy',
    tag,
    summary: 'Replace a policy of the draft',
    description:
      'What was spent stays: it belongs to the actor, resource, condition and period, not to the policy.',
    body: { schema: changedPolicy, examples: { 'A limit for each user': everybody } },
    response: aPolicy,
    refusals: [refusal('policy_taken')],
  },
  [`DELETE ${policy}`]: {
    id: 'deleteGatewayPolicy',
    tag,
    summary: 'Remove a policy from the draft',
    response: aPolicy,
  },
  [`GET ${policies}/draft`]: {
    id: 'getPolicyDraft',
    tag,
    summary: 'Show how the draft differs from what is in effect',
    response: aDraft,
  },
  [`DELETE ${policies}/draft`]: {
    id: 'discardPolicyDraft',
    tag,
    summary: 'Discard the draft',
    response: aDraft,
  },
  [`POST ${policies}/commit`]: {
    id: 'commitPolicies',
    tag,
    summary: 'Put the draft in effect',
    description:
      'Within a second, on all machines. From the first policy on, calls that none of them allows are refused: the response says so in `messages`. Without any policy, none decides.',
    response: json(commitResponse, ['etag']),
    refusals: [refusal('no_policy_draft'), refusal('outdated_policy_draft')],
  },
  [`GET ${policies}/commits`]: {
    id: 'listPolicyCommits',
    tag,
    summary: 'List the last 20 commits, newest first, with their policies',
    query: paging,
    response: many('PolicyCommit'),
  },
  [`POST ${policies}/rollback`]: {
    id: 'rollBackPolicies',
    tag,
    summary: 'Put earlier policies in effect again',
    description: 'As a new commit. A draft stays as it is, and is outdated.',
    body: { schema: rollback, examples: { 'Some commit': { to: '0f1e2d3c4b5a69788796a5b4c3d2e1f0' } } },
    response: json(commitResponse, ['etag']),
  },
  [`GET ${policies}/budgets`]: {
    id: 'listPolicyBudgets',
    tag,
    summary: 'Show what is spent of the limits in effect, and what policies refused',
    description:
      'Limits for each identity list the 100 that have spent the most: tokens and consents, and identities of the latest 2,000 log entries.',
    response: json(success(listOf(policyBudgets))),
  },
  [`POST ${policies}/simulate`]: {
    id: 'simulatePolicies',
    tag,
    summary: 'Say what the policies would decide about a call',
    description:
      'By the draft, or by what is in effect; with what is spent of the limits that would count. A call for a user or an app has a token, whether the body names one or not.',
    body: {
      schema: simulation,
      examples: {
        'Some user': {
          identity: { email: 'ada@example.com' },
          model: 'openai/gpt-5',
          metadata: { team: 'research', project: 'r-7' },
        },
      },
    },
    response: json(success(simulationResult)),
  },
}
