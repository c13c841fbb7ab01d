// A limit, and how far this process may go without querying the store.

import { day } from '../base/units.ts'
import type { RateLimitConfig } from '../config/model/limit-config.ts'

/** The last `period` ms, fixed periods of that length, or days and months in UTC. */
type Span =
  | { readonly kind: 'sliding' | 'fixed'; readonly period: number } // ms
  | { readonly kind: 'day' | 'month' }

export interface Limit {
  /** Unique among all limits that are counted in the same store. */
  readonly name: string
  readonly max: number
  readonly span: Span
  /** In ms; for a month, the shortest one. */
  readonly period: number
  /** Requests pass without a query while the count and its possible growth are below this. */
  readonly ceiling: number
  /** The maximum rate of all processes together, per ms: ten times the limit. */
  readonly growth: number
  /** Max requests that a process admits before it reports them. */
  readonly unreported: number
  readonly blind: number
}

/** The unreported share of a limit: four processes may be wrong at once, by two percent in total. */
const unreportedShare = 1 / 200
/**
 * For a smaller limit a single request exceeds that share. It is admitted only if enough others still fit for
 * a sudden rush to be noticed before the limit;
 */
const small = 200
/** below this size, a single request would weigh too much. */
const smallest = 20

/** Equal name, span and period share their counts. `exact` requests wait for the store. */
export function limitOf(name: string, max: number, span: Span, { exact = false } = {}): Limit {
  const period = 'period' in span ? span.period : span.kind === 'day' ? day : 28 * day
  return {
    name: `${span.kind} ${period} ${name}`,
    max,
    span,
    period,
    ceiling: (max < small ? 0.25 : 0.75) * max,
    growth: (10 * max) / period,
    unreported: exact || max < smallest ? 0 : Math.max(1, Math.floor(max * unreportedShare)),
    blind: exact ? 0 : Math.floor(max * unreportedShare),
  }
}

export function rateLimitOf(config: Pick<RateLimitConfig, 'name' | 'limit' | 'period'>): Limit {
  return limitOf(`rule ${config.name}`, config.limit, { kind: 'sliding', period: config.period })
}

export function quotaLimitOf(zone: string, kind: 'day' | 'month', max: number): Limit {
  return limitOf(`quota ${zone}`, max, { kind })
}

export const gatewayLimitName = 'ai-gateway'

/** `period` is in ms. Compared with a call, querying the store costs nothing. */
export function gatewayLimitOf(
  { account, id }: { readonly account: string; readonly id: string },
  kind: 'sliding' | 'fixed',
  max: number,
  period: number,
): Limit {
  return limitOf(`${gatewayLimitName} ${account}/${id}`, max, { kind, period }, { exact: true })
}

/** Compiles the rate of a model route, in calls per `period` ms; its name is unique among all of them. */
export function routeLimitOf(name: string, max: number, period: number): Limit {
  return limitOf(`model-route ${name}`, max, { kind: 'fixed', period }, { exact: true })
}

/** Returns the end of the window of `now`, in ms since the epoch; infinite if sliding. */
export function endOf(span: Span, now: number): number {
  switch (span.kind) {
    case 'sliding':
      return Number.POSITIVE_INFINITY
    case 'fixed':
      return (Math.floor(now / span.period) + 1) * span.period
    case 'day':
      return (Math.floor(now / day) + 1) * day
    case 'month': {
      const date = new Date(now)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
    }
  }
}
