// Whether the gateway of an AI call has allowance left for it. Called by `plan-ai.ts`, once a call is let in.
import { type Refusal, refuse } from '../errors/refusal.ts'
import type { Spent } from '../limits/key-count.ts'
import { type Limit, limitOf } from '../limits/limit.ts'
import type { Gateway, GatewayRateLimit } from '../store/records.ts'
import type { AiExchange } from './ai-exchange.ts'
import type { Exchange, Verdict } from './exchange.ts'
import { limitLines, secondsOf } from './meter.ts'
import { policyOf } from './meter-rules.ts'

/** Refuses a call over the limit of its gateway (1015); waits for the store only near it. */
export function meterGateway(x: Exchange, ai: AiExchange): Verdict {
  if (ai.isMetered) return ai.limited
  ai.isMetered = true
  const gateway = ai.gateway as Gateway
  const limit = limitFor(gateway)
  if (limit === null) return null
  const spent = x.plane.limiter.spend(limit, `${gateway.account}/${gateway.id}`)
  if (spent instanceof Promise) return spent.then(spent => void (ai.limited = conclude(x, limit, spent)))
  return (ai.limited = conclude(x, limit, spent))
}

function conclude(x: Exchange, limit: Limit, spent: Spent): Refusal | null {
  x.limitFields += limitLines(NAME, spent, policyOf(NAME, limit.most, limit.period))
  const { allowed, limited } = x.plane.metrics.limits.rule('ai:gateway')
  if (spent.isAllowed) {
    allowed.inc()
    return null
  }
  limited.inc()
  return refuse('rate_limited', { retryAfter: secondsOf(spent.wait) })
}

/** The limits by record: a change of a gateway is another record. */
const limits = new WeakMap<GatewayRateLimit, Limit>()

function limitFor({ rateLimit = null }: Gateway): Limit | null {
  if (rateLimit === null || rateLimit.limit === 0) return null
  const known = limits.get(rateLimit)
  if (known !== undefined) return known
  const { technique, interval, limit: most } = rateLimit
  const limit = limitOf(NAME, most, { kind: technique, period: interval * 1000 })
  limits.set(rateLimit, limit)
  return limit
}

/** What callers know the limit by, whatever the gateway. */
const NAME = 'ai-gateway'
