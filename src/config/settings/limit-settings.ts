// The settings of rate limits and quotas.

import { day, second } from '../../base/units.ts'
import { formatRate, parseRate, type Rate, type Reading } from '../../base/text/quantity.ts'
import { expression } from '../shape/expression-shape.ts'
import type { LimitKey, QuotaConfig, RateLimitConfig } from '../model/limit-config.ts'
import type { Findings } from '../file/mistake.ts'
import { type RuleData, textOf } from './rule-data.ts'
import { limitWork, type WorkSum } from '../shape/rule-cost.ts'
import { accept, matching, oneOf, readHeaderKey, wholeOrOff } from '../shape/rules.ts'
import {
  formed,
  group,
  list,
  mapping,
  oneOrMore,
  optional,
  type Placed,
  placed,
  type Rule,
  required,
  scalar,
  type Value,
} from '../shape/shape.ts'
import { hintsForRates } from '../shape/value-hints.ts'

const minRate: Rate = { limit: 1, period: 1 * second }
const maxRate: Rate = { limit: 1e9, period: 31 * day }

/** Accepts a rate of up to a month. */
export const rate: Rule<Rate> = formed(
  readRate,
  {
    pattern: '^\\d{1,15}/\\d*(?:ms|s|m|min|h|d)$',
    hints: hintsForRates,
    rule: 'must be a whole number per time, such as 10/s, 100/min, 1000/h or 600/10m',
  },
  formatRate,
)

function readRate(text: string): Reading<Rate> {
  const reading = parseRate(text)
  if ('flaw' in reading) return reading
  const { limit, period } = reading.value
  const isWithin = [
    limit >= minRate.limit,
    limit <= maxRate.limit,
    period >= minRate.period,
    period <= maxRate.period,
  ]
  return accept(
    isWithin.every(Boolean) ? reading.value : undefined,
    `must be from ${formatRate({ ...minRate, period: maxRate.period })} to ${formatRate({ ...maxRate, period: minRate.period })}`,
  )
}

/** Accepts a name for RateLimit fields, where clients may mishandle dots and quotes. */
export const limitName = matching(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, hyphens and underscores')

const limitKey: Rule<LimitKey | 'all'> = formed(readLimitKey, {
  words: ['address', 'token', 'app', 'path', 'all'],
  pattern: '^header +\\S+$',
})

function readLimitKey(text: string): Reading<LimitKey | 'all'> {
  if (text === 'address' || text === 'token' || text === 'app' || text === 'path')
    return { value: { by: text } }
  if (text === 'all') return { value: text }
  const name = readHeaderKey(text)
  return accept(
    name === undefined ? undefined : { by: 'header', name },
    'must be address, token, app, path, all, or header NAME, such as header X-Api-Key',
  )
}

const rateLimit = mapping({
  name: required(placed(scalar(limitName))),
  rate: required(scalar(rate)),
  key: optional(placed(oneOrMore(scalar(limitKey))), null), // null: address
  when: optional(placed(expression('request', 'bool')), null),
  action: optional(scalar(oneOf('block', 'log')), 'block' as const),
})

export const rateLimits = optional(list(placed(rateLimit), { max: 1000 }), [])

const requests = optional(scalar(wholeOrOff(1, 1e14)), 0)

export const quota = group({ day: requests, month: requests })

type RateLimitSettings = Value<typeof rateLimit>

/** Returns the rate limits of one list, without those that have mistakes. */
export function resolveRateLimits(
  limits: readonly Placed<RateLimitSettings>[],
  data: RuleData,
  findings: Findings,
  work: WorkSum,
): RateLimitConfig[] {
  return limits.flatMap(({ value: { name, rate, key, when, action }, ...place }) => {
    work.add(limitWork + (when?.value.work ?? 0), place)
    const common = { key: resolveKey(key, findings), when: when && textOf(when, data, findings), action }
    return name === null || rate === null ? [] : { name: name.value, ...rate, ...common, line: place.line }
  })
}

/** Returns the quota of a zone; off is null. */
export function resolveQuota({ day, month }: typeof quota.fallback): QuotaConfig {
  return { day: day || null, month: month || null }
}

function resolveKey(key: RateLimitSettings['key'], findings: Findings): readonly LimitKey[] {
  if (key === null) return [{ by: 'address' }]
  const parts = key.value.filter(part => part !== 'all')
  if (parts.length > 0 && parts.length < key.value.length) {
    findings.flaw(key, 'cannot combine all with other keys: all counts every client together')
  }
  return parts
}
