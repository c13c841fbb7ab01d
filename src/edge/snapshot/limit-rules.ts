// Rate limits and quotas of a snapshot, compiled once for all requests.

import type { EdgeMetrics } from '../../metrics/counters/edge-metrics.ts'
import { compileExpression, type Expression } from '../../expression/expression.ts'
import type { LimitDecisions } from '../../metrics/counters/limit-metrics.ts'
import type { Config, ZoneConfig } from '../../config/model/config.ts'
import type { LimitKey, RateLimitConfig } from '../../config/model/limit-config.ts'
import type { ErrorName } from '../../errors/catalogue/catalogue.ts'
import { type Limit, quotaLimitOf, rateLimitOf } from '../../limits/limit.ts'
import { quotaHits, rateLimitHits } from '../../activity/tally-scopes.ts'
import { LimitFields } from './limit-fields.ts'

export interface MeterRule {
  readonly limit: Limit
  readonly key: readonly LimitKey[]
  /** Null counts all requests. */
  readonly when: Expression<boolean> | null
  readonly readsPath: boolean
  readonly needsToken: boolean
  readonly name: string
  readonly line: number | null
  /** Null only counts requests. */
  readonly error: ErrorName | null
  readonly cause: { readonly code: string }
  readonly fields: LimitFields | null
  readonly decisions: LimitDecisions
  readonly hits: string
}

export function compileRateLimits(
  configs: readonly RateLimitConfig[],
  { limits }: EdgeMetrics,
): readonly MeterRule[] {
  return configs.map(({ name, limit, period, key, when: text, action, line = null }) => {
    const when = text === null ? null : compileCondition(text)
    return {
      limit: rateLimitOf({ name, limit, period }),
      hits: rateLimitHits(name),
      key,
      when,
      readsPath: when?.readsPath === true || key.some(({ by }) => by === 'path'),
      needsToken: key.some(({ by }) => by === 'app'),
      name,
      line,
      error: action === 'block' ? 'rate_limited' : null,
      cause: { code: `rate limit ${name}` },
      fields: action === 'block' ? new LimitFields(name, limit, period) : null,
      decisions: limits.rule(name),
    }
  })
}

export function compileQuota(
  { name, quota }: Pick<ZoneConfig, 'name' | 'quota'>,
  { limits }: EdgeMetrics,
): readonly MeterRule[] {
  const errors = { day: 'daily_limit_reached', month: 'plan_limit_reached' } as const
  return quotaKinds.flatMap(kind => {
    const max = quota[kind]
    if (max === null) return []
    const fullName = quotaName(name, kind)
    return {
      limit: quotaLimitOf(name, kind, max),
      hits: quotaHits(kind),
      key: [],
      when: null,
      readsPath: false,
      needsToken: false,
      name: fullName,
      line: null,
      error: errors[kind],
      cause: { code: `quota ${fullName}` },
      fields: null,
      decisions: limits.rule(fullName),
    }
  })
}

const quotaKinds = ['day', 'month'] as const

function quotaName(zone: string, kind: (typeof quotaKinds)[number]): string {
  return `${zone}:${kind}`
}

export function limitNames({ rateLimits, zones }: Pick<Config, 'rateLimits' | 'zones'>): ReadonlySet<string> {
  const ofZones = zones.flatMap(zone => [zone, ...zone.routes].flatMap(({ rateLimits }) => rateLimits))
  const ofMessages = zones.flatMap(({ routes }) =>
    routes.flatMap(({ mcp }) => (mcp?.rules ?? []).flatMap(({ rate }) => rate ?? [])),
  )
  const quotas = zones.flatMap(({ name, quota }) =>
    quotaKinds.filter(kind => quota[kind] !== null).map(kind => quotaName(name, kind)),
  )
  return new Set([...[...rateLimits, ...ofZones, ...ofMessages].map(({ name }) => name), ...quotas])
}

function compileCondition(text: string): Expression<boolean> {
  const expression = compileExpression(text, 'request', 'bool')
  if ('message' in expression) throw new Error(`a rate limit failed to compile: ${expression.message}`)
  return expression
}
