// Validates the body of an AI gateway, in the shape of its published clients.

import { backoffs, maxDelay } from '../../ai/failover/after-failure.ts'
import { maxAttempts } from '../../ai/failover/controls.ts'
import { maxTtl, minTtl } from '../../answers/controls.ts'
import { isGatewayId } from '../../ai/gateway-directory.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import { usualMaxTokens } from '../../store/records/budget-rule.ts'
import type { CacheScope, Gateway, GatewayRateLimit, GatewayRetry } from '../../store/records/records.ts'
import { type GuardDraft, readGuard } from '../guard/body.ts'
import { Field } from '../http/field.ts'
import { readDollars, readSpendLimits } from '../spend-limits/body.ts'

/** The settings of a gateway. */
type GatewaySettings = Pick<
  Gateway,
  | 'authentication'
  | 'collectLogs'
  | 'logManagement'
  | 'logManagementStrategy'
  | 'rateLimit'
  | 'streamUsage'
  | 'retry'
  | 'onAbandon'
  | 'byokOnly'
  | 'spendLimits'
  | 'defaultMaxTokens'
  | 'unpricedCost'
  | 'cacheTtl'
  | 'isCacheInvalidatedOnUpdate'
  | 'cacheScope'
  | 'hasIdempotencyKeys'
> & { readonly guard: GuardDraft | null }

/**
 * The settings of published clients that are not supported, each with the value that turns it off: it alone
 * (or null) is accepted, and shown.
 */
export const notBuilt = {
  guardrails: null,
  log_classification: false,
  logpush: false,
  logpush_public_key: null,
  otel: null,
  store_id: null,
  stripe: null,
  workers_ai_billing_mode: null,
  zdr: false,
} as const

const usualLogs = 100_000
const maxLogs = 10_000_000
/** Bounds of the tokens and the USD of a call that names or has none of its own. */
export const maxMaxTokens = 1_000_000
export const maxUnpricedCost = 1_000
/** Bounds of a rate limit: calls, and seconds up to 31 days. */
export const maxCalls = 1_000_000_000
export const longestInterval = 31 * 86_400
const settings = [
  'authentication',
  'byok_only',
  'cache_invalidate_on_update',
  'cache_scope',
  'cache_ttl',
  'collect_logs',
  'default_max_tokens',
  'dlp',
  'idempotency_keys',
  'log_management',
  'log_management_strategy',
  'on_abandon',
  'rate_limiting_interval',
  'rate_limiting_key',
  'rate_limiting_limit',
  'rate_limiting_technique',
  'retry_backoff',
  'retry_delay',
  'retry_max_attempts',
  'spend_limits',
  'stream_usage',
  'unpriced_cost',
] as const
export const cacheScopes = ['token', 'app', 'shared'] as const satisfies readonly CacheScope[]
const off = Object.keys(notBuilt) as (keyof typeof notBuilt)[]
/** Members of responses that requests cannot set: a record that was fetched may be sent back with them. */
const responseMembers = ['id', 'is_default', 'created_at', 'modified_at'] as const

/**
 * Reads the body of a new gateway. Absent settings are closed: no calls without a token, and no stored
 * bodies.
 */
export function readNewGateway(
  body: unknown,
): (GatewaySettings & { readonly id: string }) | readonly Fault[] {
  const faults: Fault[] = []
  const { id, ...members } = new Field(body, faults).members(['id'], [...settings, ...off])
  const read = { id: readId(id), ...readSettings(members) }
  return faults.length > 0 ? faults : { ...read, authentication: read.authentication ?? true }
}

/**
 * Reads the body that replaces all settings; only `authentication`, null if absent, may be left to the
 * record.
 */
export function readGateway(body: unknown, id: string): ReturnType<typeof readSettings> | readonly Fault[] {
  const faults: Fault[] = []
  const members = new Field(body, faults).members([], [...settings, ...off, ...responseMembers])
  members.id.mustBe(id)
  const read = readSettings(members)
  return faults.length > 0 ? faults : read
}

function readId(id: Field): string {
  const { value } = id
  if (typeof value === 'string' && isGatewayId(value)) return value
  if (value !== undefined) id.refuse('must be 1 to 64 lower-case letters, digits, hyphens and underscores')
  return ''
}

type Members = Readonly<Record<(typeof settings)[number] | (typeof off)[number], Field>>

function readSettings(members: Members) {
  for (const name of off) refuseUnlessOff(members[name], notBuilt[name])
  const { authentication, collect_logs, log_management, log_management_strategy } = members
  const strategy = orUsual(log_management_strategy)?.oneOf(['DELETE_OLDEST', 'STOP_INSERTING'])
  return {
    authentication: authentication.flag(),
    byokOnly: orUsual(members.byok_only)?.flag() ?? false,
    collectLogs: collect_logs.flag() ?? false,
    logManagement: orUsual(log_management)?.integer(0, maxLogs) ?? usualLogs,
    logManagementStrategy: strategy ?? 'DELETE_OLDEST',
    rateLimit: readRateLimit(members),
    streamUsage: orUsual(members.stream_usage)?.flag() ?? true,
    retry: readRetry(members),
    onAbandon: orUsual(members.on_abandon)?.oneOf(['abort', 'drain']) ?? 'abort',
    spendLimits: readSpendLimits(members.spend_limits, 'gateway'),
    defaultMaxTokens: orUsual(members.default_max_tokens)?.integer(1, maxMaxTokens) ?? usualMaxTokens,
    unpricedCost: readUnpricedCost(orUsual(members.unpriced_cost)),
    cacheTtl: readCacheTtl(orUsual(members.cache_ttl)),
    isCacheInvalidatedOnUpdate: orUsual(members.cache_invalidate_on_update)?.flag() ?? false,
    cacheScope: orUsual(members.cache_scope)?.oneOf(cacheScopes) ?? 'token',
    guard: readGuard(members.dlp),
    hasIdempotencyKeys: orUsual(members.idempotency_keys)?.flag() ?? false,
  }
}

function readCacheTtl(field: Field | null): number {
  const ttl = field?.integer(0, maxTtl) ?? 0
  if (ttl > 0 && ttl < minTtl) field!.refuse(`must be 0, which turns the cache off, or at least ${minTtl}`)
  return ttl
}

/** Reads what is said about retries; null if nothing is. */
function readRetry(members: Members): GatewayRetry | null {
  const retry = {
    maxAttempts: orUsual(members.retry_max_attempts)?.integer(1, maxAttempts) ?? null,
    delay: orUsual(members.retry_delay)?.integer(0, maxDelay) ?? null,
    backoff: orUsual(members.retry_backoff)?.oneOf(backoffs) ?? null,
  }
  return retry.maxAttempts === null && retry.delay === null && retry.backoff === null ? null : retry
}

function readUnpricedCost(field: Field | null): number | null {
  return field === null ? null : readDollars(field, maxUnpricedCost)
}

/** Reads a rate limit; null if unset. */
function readRateLimit(members: Members): GatewayRateLimit | null {
  const limit = orUsual(members.rate_limiting_limit)?.integer(0, maxCalls) ?? 0
  const interval = orUsual(members.rate_limiting_interval)?.integer(0, longestInterval) ?? 0
  const technique = orUsual(members.rate_limiting_technique)?.oneOf(['fixed', 'sliding']) ?? null
  if (limit > 0 && interval === 0)
    members.rate_limiting_interval.refuse('must be at least 1 second, since rate_limiting_limit is set')
  const key = orUsual(members.rate_limiting_key)?.oneOf(['gateway', 'token', 'app']) ?? 'gateway'
  if (limit === 0 && interval === 0 && technique === null && key === 'gateway') return null
  return { limit, interval, technique: technique ?? 'fixed', ...(key !== 'gateway' && { key }) }
}

/** Treats null as published clients mean it: as the default. */
function orUsual(field: Field): Field | null {
  return field.value === null ? null : field
}

function refuseUnlessOff(field: Field, off: unknown): void {
  if (field.value === undefined || field.value === null || field.value === off) return
  field.refuse(`is not supported by this gateway: leave it out, or send ${String(off)}`)
}
