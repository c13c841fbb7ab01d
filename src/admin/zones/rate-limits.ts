// The handler of the rate limits and quotas of a zone, with the clients closest to them.

import type { LimitKey, RateLimitConfig } from '../../config/model/limit-config.ts'
import type { ZoneConfig } from '../../config/model/config.ts'
import { endOf, type Limit, quotaLimitOf, rateLimitOf } from '../../limits/limit.ts'
import { joinNear, type NearKey } from '../../limits/near-keys.ts'
import type { Store } from '../../store/contract/store.ts'
import { tallyKinds } from '../../store/records/tally.ts'
import { quotaHits, rateLimitHits, zoneScope } from '../../activity/tally-scopes.ts'
import { type ApiResponse, success } from '../http/envelope.ts'
import type { Api, ZoneCall } from '../api/api-types.ts'
import { oldestOf } from '../api/zone-owner.ts'

interface Listed {
  readonly limit: Limit
  readonly hits: string
  readonly key: readonly LimitKey[]
  /** Whether its keys may be those of other zones. */
  readonly isShared: boolean
  readonly view: object
}

export async function listRateLimits(call: ZoneCall, { store, zones }: Api): Promise<ApiResponse> {
  const { zone, account, now } = call
  const isOldest = account === (await oldestOf(store.accounts))
  const listed = [...rateLimitsOf(zone, zones.ofAll().rateLimits), ...quotasOf(zone)]
  // The clients of other zones are visible only to the operator.
  const shown = listed.filter(({ isShared }) => !isShared || isOldest)
  const near = await zones.nearLimits(shown.map(({ limit }) => limit.name))
  const sums = await store.tallies.list('limit', zoneScope(zone.name), now - tallyKinds.limit.retention)
  const over = new Map(
    sums.map(({ name, slots }) => [name, slots.reduce((sum, [, count]) => sum + count, 0)]),
  )
  const result: object[] = []
  for (const one of listed) {
    const keys = joinNear(near.map(keys => keys.filter(({ limit }) => limit === one.limit.name)))
    const nearest = shown.includes(one)
      ? await Promise.all(keys.map(key => viewKey(one, key, store, now)))
      : null
    result.push({ ...one.view, over_last_hour: over.get(one.hits) ?? 0, nearest })
  }
  return success(result)
}

function rateLimitsOf(zone: ZoneConfig, ofAll: readonly RateLimitConfig[]): Listed[] {
  return [
    ...ofAll.map(config => listedOf(config, 'all_zones')),
    ...zone.rateLimits.map(config => listedOf(config, 'zone')),
    ...zone.routes.flatMap(({ path, rateLimits }) =>
      rateLimits.map(config => listedOf(config, 'route', path)),
    ),
  ]
}

function listedOf(
  config: RateLimitConfig,
  appliesTo: 'all_zones' | 'zone' | 'route',
  route: string | null = null,
): Listed {
  const { name, limit, period, key, when, action } = config
  const view = {
    ...{ kind: 'rate_limit', name, applies_to: appliesTo, route, limit, window: 'sliding' },
    ...{ period: period / 1000, key: key.map(nameOf), when, action },
  }
  return {
    limit: rateLimitOf(config),
    hits: rateLimitHits(name),
    key,
    isShared: appliesTo === 'all_zones',
    view,
  }
}

function quotasOf({ name, quota }: ZoneConfig): Listed[] {
  return (['day', 'month'] as const).flatMap((window): Listed[] => {
    const max = quota[window]
    if (max === null) return []
    const view = {
      ...{ kind: 'quota', name: `${name}:${window}`, applies_to: 'zone', route: null, limit: max, window },
      ...{ period: null, key: [], when: null, action: 'block' },
    }
    const limit = quotaLimitOf(name, window, max)
    return [{ limit, hits: quotaHits(window), key: [], isShared: false, view }]
  })
}

function nameOf(part: LimitKey): string {
  return part.by === 'header' ? `header ${part.name}` : part.by
}

async function viewKey({ limit, key }: Listed, near: NearKey, store: Store, now: number) {
  return { key: partsOf(near.key, key), ...(await useOf(limit, near, store, now)) }
}

/** From the processes while the store is unreachable; `reset` is in seconds. */
export async function useOf(limit: Limit, near: NearKey, { counters }: Pick<Store, 'counters'>, now: number) {
  const { max, span, period } = limit
  const until = endOf(span, now)
  const window =
    span.kind === 'sliding' ? { kind: span.kind, period: span.period } : ({ kind: 'fixed', until } as const)
  const request = { key: near.storeKey, window, limit: max, done: 0, wanted: 0 }
  const reply = counters.isUnreachable ? null : await counters.spend(request).catch(() => null)
  const used = reply === null ? near.used : Math.max(0, reply.count + near.unreported)
  const full = span.kind === 'sliding' ? period : until - now
  const wait = used >= max && reply !== null && reply.wait > 0 ? reply.wait : full
  return {
    used: Math.round(used),
    remaining: Math.max(0, Math.round(max - used)),
    reset: Math.ceil(wait / 1000),
  }
}

function partsOf(text: string, key: readonly LimitKey[]) {
  if (key.length === 1 && key[0]!.by === 'address') return [partOf('address', text)]
  // A digest of parts that are long together.
  if (key.length > 0 && !text.endsWith('\n')) return key.map(part => ({ by: nameOf(part), value: null }))
  const texts = text.split('\n')
  return key.map((part, i) => readPart(part, texts[i] ?? ''))
}

/** Reads one part: the address for a request without the token or the field, and a digest of a long value. */
function readPart(part: LimitKey, text: string) {
  const by = nameOf(part)
  if (part.by === 'address') return partOf(by, text)
  // The id of a token is no secret.
  if (part.by === 'app' && text.startsWith('token ')) return partOf('token_id', text.slice('token '.length))
  const mark = part.by === 'header' ? 'field ' : `${part.by} `
  const isDigest = text.startsWith(`${by} `) && longDigest.test(text.slice(by.length + 1))
  if (isDigest) return partOf(by, null)
  if (!text.startsWith(mark)) return partOf('address', text)
  const value = text.slice(mark.length)
  const isSecret = part.by === 'token' || (part.by === 'header' && secretNames.test(part.name))
  return partOf(by, isSecret ? masked(value) : value)
}

function partOf(by: string, value: string | null) {
  return { by, value }
}

const longDigest = /^[A-Za-z0-9_-]{43}$/
const secretNames = /auth|cookie|credential|key|pass|secret|session|signature|token/

/** Returns the end of a secret, unless it is so short that the end would make it guessable. */
function masked(value: string): string {
  return value.length < 16 ? '…' : `…${value.slice(-4)}`
}
