// An AI gateway in the form of the management API, and its settings in words.

import type { SpendLimits } from '../budgets/rule.ts'
import { grouped } from '../parts/numbers.ts'

/** The part that the pages set and show; the API takes it back whole. */
export interface Gateway {
  readonly id: string
  readonly authentication: boolean
  readonly byok_only: boolean
  readonly collect_logs: boolean
  readonly log_management: number
  readonly log_management_strategy: 'DELETE_OLDEST' | 'STOP_INSERTING'
  readonly rate_limiting_interval: number
  readonly rate_limiting_key: 'gateway' | 'token' | 'app'
  readonly rate_limiting_limit: number
  readonly rate_limiting_technique: 'fixed' | 'sliding' | null
  readonly retry_max_attempts: number | null
  readonly retry_delay: number | null
  readonly retry_backoff: 'constant' | 'linear' | 'exponential' | null
  readonly on_abandon: 'abort' | 'drain'
  readonly stream_usage: boolean
  readonly spend_limits: SpendLimits | null
  readonly default_max_tokens: number
  readonly unpriced_cost: number | null
  readonly cache_ttl: number
  readonly cache_invalidate_on_update: boolean
  readonly cache_scope: 'token' | 'app' | 'shared'
  readonly idempotency_keys: boolean
  readonly dlp: Guard | null
  readonly created_at: string
  readonly modified_at: string
}

/** Other members, which the pages do not show, stay with it. */
export interface Guard {
  readonly enabled: boolean
  readonly policies: readonly GuardPolicy[]
  readonly webhook?: { readonly url: string; readonly check: readonly GuardCheck[] } | null
}

export interface GuardPolicy {
  readonly id: string
  readonly enabled: boolean
  readonly action: GuardAction
  readonly check: readonly GuardCheck[]
  readonly profiles: readonly string[]
}

export type GuardAction = 'FLAG' | 'REDACT' | 'BLOCK'
export type GuardCheck = 'REQUEST' | 'RESPONSE'

/** Returns the rate limit, as `100 calls in 60 s, for each token`. */
export function limitInWords(gateway: Gateway): string {
  const { rate_limiting_limit: limit, rate_limiting_interval: seconds, rate_limiting_key: key } = gateway
  if (limit === 0) return 'None'
  const whose = { gateway: '', token: ', for each token', app: ', for each app' }[key]
  return `${grouped(limit)} ${limit === 1 ? 'call' : 'calls'} in ${spanInWords(seconds)}${whose}`
}

/** Returns the attempts at a model, as `Up to 3`. */
export function attemptsInWords({ retry_max_attempts: max }: Gateway): string {
  return max === null || max === 1 ? 'One' : `Up to ${max}`
}

/** Returns how long responses are reused, as `For 1 hour, for each token`. */
export function cacheInWords({ cache_ttl: seconds, cache_scope: scope }: Gateway): string {
  const whose = { token: ', for each token', app: ', for each app', shared: ', for all callers' }[scope]
  return seconds === 0 ? 'Only for calls that ask for it' : `For ${spanInWords(seconds)}${whose}`
}

/** Returns the log retention, as `The latest 100,000 calls, without bodies`. */
export function logsInWords(gateway: Gateway): string {
  const { log_management: maxLogs, log_management_strategy: strategy, collect_logs: hasBodies } = gateway
  if (maxLogs === 0) return 'None'
  const which = strategy === 'DELETE_OLDEST' ? 'The latest' : 'The first'
  return `${which} ${grouped(maxLogs)} calls, ${hasBodies ? 'with' : 'without'} bodies`
}

function spanInWords(seconds: number): string {
  for (const [length, name] of spans)
    if (seconds % length === 0 && seconds >= length) {
      const count = seconds / length
      return count === 1 ? `1 ${name}` : `${grouped(count)} ${name}s`
    }
  return `${seconds} s`
}

const spans = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const
