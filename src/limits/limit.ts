// A limit as requests are counted against it: how many in which window, and how far this process may go without querying the store.

import type { RateLimitConfig } from '../config/model/limit-config.ts'

/** The kind of window: the last so many ms; or fixed periods of so many ms, or days and months of UTC. */
type Span =
  | { readonly kind: 'sliding' | 'fixed'; readonly period: number } // ms
  | { readonly kind: 'day' | 'month' }

export interface Limit {
  /** Distinguishes it from all other limits that are counted in the same store. */
  readonly name: string
  readonly most: number
  readonly span: Span
  /** In ms; for a month the shortest. */
  readonly period: number
  /** Below this count requests pass without a query, with everything added that may have happened since. */
  readonly ceiling: number
  /** The most that all processes together can have counted in a ms, at ten times the limit. */
  readonly growth: number
  /** The most requests that a process may let in before it reports them. */
  readonly unreported: number
  /** How much of that may be let in before the first reply. */
  readonly blind: number
}

/** The unreported share of a limit that a process may let in: four processes may be wrong at once, by two percent together, however sudden the rush. */
const unheard = 1 / 200
/** For a smaller limit a single request is more than that share. It is let in only where so many still fit that a sudden rush is noticed before the limit; */
const small = 200
/** below this size it would weigh too much. */
const smallest = 20

/** Compiles a limit; limits with the same name, span and period share their counts. One that is `exact` has each request wait for the store. */
export function limitOf(name: string, most: number, span: Span, { exact = false } = {}): Limit {
  const period = 'period' in span ? span.period : span.kind === 'day' ? day : 28 * day
  return {
    name: `${span.kind} ${period} ${name}`,
    most,
    span,
    period,
    ceiling: (most < small ? 0.25 : 0.75) * most,
    growth: (10 * most) / period,
    unreported: exact || most < smallest ? 0 : Math.max(1, Math.floor(most * unheard)),
    blind: exact ? 0 : Math.floor(most * unheard),
  }
}

/** Compiles a rate limit of the configuration. */
export function rateLimitOf({
  name,
  limit,
  period,
}: Pick<RateLimitConfig, 'name' | 'limit' | 'period'>): Limit {
  return limitOf(`rule ${name}`, limit, { kind: 'sliding', period })
}

/** Compiles a quota of a zone. */
export function quotaLimitOf(zone: string, kind: 'day' | 'month', most: number): Limit {
  return limitOf(`quota ${zone}`, most, { kind })
}

/** The name of the limit of an AI gateway for callers, the same for every gateway. */
export const gatewayLimitName = 'ai-gateway'

/** Compiles the rate limit of an AI gateway: `most` calls in `period` ms. Next to what a call costs, asking the store is nothing. */
export function gatewayLimitOf(
  { account, id }: { readonly account: string; readonly id: string },
  kind: 'sliding' | 'fixed',
  most: number,
  period: number,
): Limit {
  return limitOf(`${gatewayLimitName} ${account}/${id}`, most, { kind, period }, { exact: true })
}

/** Returns the end of the window that contains `now`, both in ms since the epoch; infinite for a sliding window. */
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

const day = 86_400_000
