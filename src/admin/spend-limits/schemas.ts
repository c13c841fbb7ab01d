// Schemas of spend limits, in requests and in responses.

import type { Criterion } from '../../store/records/budget-rule.ts'
import {
  about,
  closed,
  flag,
  listOf,
  type Members,
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
import {
  criteriaOf,
  idPattern,
  longestWindow,
  maxNames,
  maxRules,
  maxValueLength,
  maxValues,
  maxOf,
  periods,
  shortestWindow,
  type SpendOwner,
  units,
  zonePattern,
} from './body.ts'
import { maxListed } from './budgets.ts'

const id: Schema = { ...text, pattern: idPattern.source }
const maxLimit = Math.max(...units.map(unit => maxOf[unit]))
const limit: Schema = { ...number, exclusiveMinimum: 0, maximum: maxLimit }
const spans = [whole(shortestWindow, longestWindow), oneOf(periods)]
const zone: Schema = { ...text, pattern: zonePattern.source }
const technique = oneOf(['fixed', 'sliding'])
const outage = oneOf(['closed', 'open'])

/** That `values` come with the mode `filter` alone, is a rule that the schema leaves to the server. */
function criterion(modes: readonly Criterion['mode'][]): Schema {
  return orNull(closed({ mode: oneOf(modes) }, { values: listOf(printable(maxValueLength), 1, maxValues) }))
}

const meanings: Readonly<Record<string, string>> = {
  model: 'Models, as the log names them: `openai/gpt-4o`, or `gpt-4o` for that of any provider.',
  provider: 'Providers.',
  token: 'API tokens by their ids; consents of users, for calls of apps.',
  app: 'OAuth clients by their ids.',
  person: 'The users for whom apps and own tokens call: ids, or, in a filter, e-mail addresses.',
}

/** The limits in the body of a gateway or a token; null for none. */
export function spendLimits(owner: SpendOwner): Schema {
  const nullable = criterion(owner === 'token' ? ['filter'] : ['partition', 'filter'])
  const metadata = orNull({
    type: 'object',
    maxProperties: maxNames,
    additionalProperties: nullable,
  })
  const rule = closed(
    {
      limit: about('USD with up to 9 decimals, tokens, or calls at a time.', limit),
      limitType: about('What is limited: the cost, the tokens, or the calls at a time.', oneOf(units)),
    },
    {
      id: about('Unique among the rules; generated if left out. What is spent belongs to it.', orNull(id)),
      enabled: about('Whether the rule is in effect; true by default.', flag),
      window: about(
        'Seconds, aligned to the epoch if fixed, or a period of the calendar: `day`, `week` (from Monday) or `month`. Not for calls at a time.',
        { anyOf: [...spans, { type: 'null' }] },
      ),
      time_zone: about('The IANA time zone of a period of the calendar; UTC by default.', orNull(zone)),
      technique: about(
        'Whether windows are consecutive (fixed) or all that was spent in the last one counts (sliding); fixed by default.',
        orNull(technique),
      ),
      ...Object.fromEntries(criteriaOf[owner].map(name => [name, about(meanings[name]!, nullable)])),
      metadata: about('By the name of the metadata.', metadata),
      when_store_unreachable: about(
        'Whether calls are refused (closed) or admitted (open) while the store is unreachable; closed by default.',
        orNull(outage),
      ),
    },
  )
  return orNull(
    closed(
      {},
      {
        enabled: about('Whether any rule is in effect; true by default.', flag),
        rules: listOf(rule, 0, maxRules[owner]),
      },
    ),
  )
}

const shownCriterion = open({ mode: oneOf(['partition', 'filter']) }, { values: listOf(text) })

const shownRule = open(
  {
    id,
    enabled: flag,
    limit,
    limitType: oneOf(units),
    when_store_unreachable: outage,
  },
  {
    window: { anyOf: spans },
    time_zone: text,
    technique,
    ...Object.fromEntries(criteriaOf.gateway.map(name => [name, shownCriterion])),
    metadata: { type: 'object', additionalProperties: shownCriterion },
  } satisfies Members,
)

export const shownSpendLimits = open({ enabled: flag, rules: listOf(shownRule) })

const amount: Schema = { ...number, minimum: 0 }

/** A rule with its budgets. */
export const budgets = open({
  rule: shownRule,
  refused_last_day: about(
    'Calls that the rule refused in the last 24 hours, and attempts that gave way to the next model of a route.',
    whole(0),
  ),
  budgets: listOf(
    open({
      id: about('Of this window; the next one has another.', text),
      key: about(
        'The values of the partitions; nothing for all calls together.',
        listOf(
          open(
            {
              by: about('Such as `token`, `person` or `metadata.team`.', text),
              value: about('Null for calls without it.', orNull(text)),
            },
            { name: about('Of a token, an app or a person.', text) },
          ),
        ),
      ),
      spent: about('In the unit of the limit: USD, tokens, or 0 for calls at a time.', amount),
      leased: about('What calls under way have reserved, and what processes hold ready for more.', amount),
      limit,
      remaining: amount,
      resets_at: about('Null for a sliding window, and for calls at a time.', orNull(time)),
    }),
    0,
    maxListed,
  ),
})
