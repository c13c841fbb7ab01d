// Schemas of policies, in requests and in responses.

import {
  about,
  closed,
  exactly,
  flag,
  id,
  listOf,
  type Members,
  named,
  number,
  oneOf,
  open,
  orNull,
  printable,
  type Schema,
  text,
  time,
  whole,
} from '../schema/schema.ts'
import { maxOf, zonePattern } from '../spend-limits/body.ts'
import {
  maxActorLength,
  maxConditionLength,
  maxNameLength,
  maxPatternLength,
  maxPatterns,
  periods,
  policyStates,
  technique,
} from './body.ts'

const pattern = printable(maxPatternLength, '; a star stands for any text')
const patterns: Schema = { anyOf: [pattern, listOf(pattern, 1, maxPatterns)] }
const resource: Schema = about(
  'All calls, those of some models (as `openai/gpt-4o`, or `gpt-4o` of any provider), or of some providers.',
  { anyOf: [exactly('*'), closed({ model: patterns }), closed({ provider: patterns })] },
)
const amount: Schema = about('USD, with at most 9 decimals.', {
  ...number,
  exclusiveMinimum: 0,
  maximum: maxOf.cost,
})
const zone: Schema = { ...text, pattern: zonePattern.source }

/** That hours have no time zone, is a rule that the schema leaves to the server. */
const actions: readonly Schema[] = [
  closed(
    { type: exactly('limit'), amount, period: oneOf(periods) },
    {
      technique: exactly(technique),
      time_zone: about('Of days, weeks and months; UTC if absent.', orNull(zone)),
    },
  ),
  closed({ type: exactly('no-limit') }),
  closed(
    { type: exactly('block') },
    { except: about('Whether everything but the resource is blocked.', orNull(flag)) },
  ),
]
const action: Schema = about(
  'A block wins over all that allows; all limits that apply count, and of several for the same calls and period the highest.',
  { anyOf: actions },
)

const actor: Schema = about(
  'Whose calls: `*`, or `user:`, `app:`, `token:` or `team:` with an id (a name, an e-mail address), or with a template that gives each identity a budget of its own: `user:{svc.user.id}`, `app:{svc.app.id}`, `token:{svc.token.id}`, `team:{metadata.team}`. A team is the `team` in the metadata of a call.',
  { ...text, minLength: 1, maxLength: maxActorLength },
)
const condition: Schema = about(
  'CEL over `user.id`, `user.email`, `app.id`, `token.id`, `gateway`, `provider`, `model` and `metadata`.',
  orNull({ ...text, minLength: 1, maxLength: maxConditionLength }),
)

const members: Members = { name: printable(maxNameLength), actor, resource, action }

export const newPolicy = closed(members, { condition })
export const changedPolicy = closed(members, { condition, id })
export const rollback = closed({ to: about('The id of a commit.', id) })
export const gatewayPolicy = open({ id, ...members, condition, action: { type: 'object' } })

export const policyCommit = open({
  id,
  created_at: time,
  active: about('Whether it is in effect.', flag),
  policies: listOf(named('GatewayPolicy')),
})

export const policyDraft = open({
  base_commit_id: about('What was in effect when the draft began.', orNull(id)),
  outdated: about('Whether something else is in effect now: such a draft cannot be committed.', flag),
  added: listOf(id),
  changed: listOf(id),
  removed: listOf(id),
})

/** A commit, with what its caller should know about it. */
export const commitResponse = open({
  success: exactly(true),
  errors: { type: 'array', maxItems: 0 },
  messages: listOf(open({ code: whole(1), message: text })),
  result: named('PolicyCommit'),
})

export const state = about(
  '`draft` (by default): what a commit would put in effect, which is what is in effect if there is no draft.',
  oneOf(policyStates),
)

const word = printable(maxPatternLength)

export const simulation = closed(
  {},
  {
    identity: orNull(
      closed({}, { user: orNull(word), email: orNull(word), app: orNull(word), token: orNull(word) }),
    ),
    provider: about('May be left out if `model` begins with it.', orNull(word)),
    model: about('Null for one that cannot be known.', orNull(printable(2 * maxPatternLength))),
    metadata: orNull({ type: 'object' }),
    state: orNull(oneOf(policyStates)),
  },
)

const policyName = open({ id, name: text })

const budget: Members = {
  budget_id: text,
  identity: about('Null for one that all calls share.', orNull(text)),
  amount: number,
  spent: number,
  leased: about('Reserved by calls under way, and held by processes for calls to come.', number),
  remaining: number,
  resets_at: orNull(time),
}

export const policyBudgets = open({
  policy: about('Null for the calls that no policy allows.', { anyOf: [policyName, { type: 'null' }] }),
  refused_last_day: about('Calls that the policy refused in the last 24 hours, or attempts.', whole(0)),
  budgets: listOf(open({ ...budget, name: about('What the identity is called.', orNull(text)) })),
})

export const simulationResult = open({
  decision: about(
    '`no_match`: no policy allows the call, so it is refused.',
    oneOf(['allow', 'block', 'no_match']),
  ),
  policy: { anyOf: [policyName, { type: 'null' }] },
  limits: listOf(open({ policy: policyName, ...budget })),
  trace: listOf(
    open({
      id,
      name: text,
      applies: flag,
      decided_by: about(
        'The part of the policy that does not match, or that is unknown; null if all parts match.',
        orNull(oneOf(['actor', 'resource', 'condition'])),
      ),
      unknown: about(
        'Then a block applies, and all else does not; a limit that would have to know the model counts the call.',
        flag,
      ),
    }),
  ),
})
