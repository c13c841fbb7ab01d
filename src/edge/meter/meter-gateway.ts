// The rate limit of the gateway of an AI call.

import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { Spent } from '../../limits/key-count.ts'
import { gatewayLimitName, gatewayLimitOf, type Limit } from '../../limits/limit.ts'
import type { Gateway, Token } from '../../store/records/records.ts'
import type { Exchange, Verdict } from '../exchange/exchange.ts'
import { LimitFields, secondsOf } from '../snapshot/limit-fields.ts'
import { meterApp } from './meter.ts'

/** Refuses an AI call over a limit of its app or of its gateway (1015). */
export function meterGateway(x: Exchange): Verdict {
  if (x.ai === null) return null
  const refusal = meterApp(x)
  if (refusal instanceof Promise) return refusal.then(refusal => refusal ?? meterOwn(x))
  return refusal ?? meterOwn(x)
}

function meterOwn(x: Exchange): Verdict {
  const gateway = x.ai!.gateway!
  const cached = limitOf(gateway)
  if (cached === null) return null
  const spent = x.plane.limiter.spend(cached.limit, keyOf(gateway, x.ai!.token))
  return spent instanceof Promise
    ? spent.then(spent => conclude(x, gateway, cached, spent))
    : conclude(x, gateway, cached, spent)
}

/** Contains no text of the client; calls without a token are counted together. */
function keyOf({ rateLimit }: Gateway, token: Token | null): string {
  const by = rateLimit?.key
  if (by === undefined || token === null) return ''
  const { actor } = token
  return by === 'app' && actor !== undefined ? `app ${actor.client}` : `token ${token.id}`
}

function conclude(x: Exchange, { id }: Gateway, { fields }: GatewayLimit, spent: Spent): Refusal | null {
  x.addedLines += fields.lines(spent)
  const { allowed, limited } = x.plane.metrics.limits.rule('ai:gateway')
  if (spent.isAllowed) {
    allowed.inc()
    return null
  }
  limited.inc()
  return refuse(
    'rate_limited',
    { retryAfter: secondsOf(spent.wait) },
    { code: `rate limit of gateway ${id}` },
  )
}

interface GatewayLimit {
  readonly limit: Limit
  readonly fields: LimitFields
}

/** A changed gateway is a new record. */
const cache = new WeakMap<Gateway, GatewayLimit>()

function limitOf(gateway: Gateway): GatewayLimit | null {
  const { rateLimit = null } = gateway
  if (rateLimit === null || rateLimit.limit === 0) return null
  const cached = cache.get(gateway)
  if (cached !== undefined) return cached
  const { technique, interval, limit: max } = rateLimit
  const period = interval * 1000
  const created = {
    limit: gatewayLimitOf(gateway, technique, max, period),
    fields: new LimitFields(gatewayLimitName, max, period),
  }
  cache.set(gateway, created)
  return created
}
