// Which key of a provider a call bears, where several are configured: one that is turned away rests, and the call goes on with the next. Called by `plan-ai.ts`
// and `forward-http.ts`.
import { type Refusal, refuse } from '../errors/refusal.ts'
import { equalsIgnoreCase } from '../http1/fields.ts'
import type { ResponseHead } from '../http1/response-head.ts'
import type { AiExchange } from './ai-exchange.ts'
import type { Exchange } from './exchange.ts'
import { secondsOf } from './limit-fields.ts'

/** Refuses a call for which every key rests (1015), with the shortest wait. */
export function refuseWithoutKey(x: Exchange, ai: AiExchange): Refusal | null {
  const wait = ai.keys === null ? 0 : ai.keys.wait(x.plane.clock.monotonic())
  return wait === 0 ? null : outOfKeys(ai, wait)
}

/**
 * Takes what an answer says of the key: null where it is the caller's, `another` where the same call is to be made with another key, and a refusal (1015) where none is
 * left. `isWhole` says whether the call can be made again.
 */
export function verdictOnKey(
  x: Exchange,
  ai: AiExchange,
  head: ResponseHead,
  isWhole: boolean,
): 'another' | Refusal | null {
  const { key, keys } = ai
  if (key === null || keys === null) return null
  if (head.status < 400) keys.worked(key)
  if (head.status !== 429 && head.status !== 401) return null
  const now = x.plane.clock.monotonic()
  const rest = keys.setAside(key, now, waitIn(head, x.plane.clock.now()))
  if (rest > 0) {
    x.plane.metrics.ai.keysSetAside[`${head.status}`].inc()
    const facts = {
      provider: ai.provider!.name,
      key: key.place,
      status: head.status,
      seconds: secondsOf(rest),
    }
    x.plane.log.warn(facts, 'provider key set aside')
  }
  const wait = keys.wait(now)
  if (wait > 0) return outOfKeys(ai, wait)
  // A key that is back by now must not keep a call going for ever.
  return isWhole && ++ai.keyChanges < keys.size ? 'another' : null
}

function outOfKeys({ provider }: AiExchange, wait: number): Refusal {
  const cause = { code: `all keys of ${provider!.name} are set aside` }
  return refuse('rate_limited', { retryAfter: secondsOf(wait) }, cause)
}

/** Returns the ms that an answer asks to wait (RFC 9110 section 10.2.3); null where it does not say. */
function waitIn({ fields }: ResponseHead, now: number): number | null {
  for (let i = 0; i < fields.length; i += 2) {
    if (!equalsIgnoreCase(fields[i]!, 'retry-after')) continue
    const value = fields[i + 1]!.trim()
    if (/^\d{1,10}$/.test(value)) return Number(value) * 1000
    const date = Date.parse(value)
    return Number.isNaN(date) ? null : Math.max(0, date - now)
  }
  return null
}
