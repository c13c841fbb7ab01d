// Step 7: which origin a request goes to, and whether it may.
import { refuse } from '../errors/refusal.ts'
import { listHas } from '../http1/fields.ts'
import { AMBIGUOUS_PATH, refuseAmbiguousPath } from './ambiguous-path.ts'
import { sentFactsOf } from './exchange-facts.ts'
import type { Exchange, Verdict } from './exchange.ts'
import { planAi } from './ai/plan-ai.ts'
import { tooLarge } from './too-large.ts'

/** Picks the origin, or the provider of an AI call, or refuses: a body over the limit (413), a request that was here before (1000), a route without origins (1004) or with none that is healthy (1033). */
export function plan(x: Exchange): Verdict {
  const route = x.route!
  x.bodyLimit = route.config.bodyLimit
  if (x.head.contentLength > x.bodyLimit) return tooLarge(x)
  if (x.head.cdnLoop !== null && passedHere(x)) return refuse('dns_loop')
  if (x.ai !== null) return planAi(x, x.ai)
  if (route.pool.members.length === 0) return refuse('dns_resolution_error')
  const refusal = route.rewrite === null ? null : route.rewrite.begin(x, sentFactsOf(x), x.snapshot.limits)
  if (refusal !== null) return refusal === AMBIGUOUS_PATH ? refuseAmbiguousPath(x) : refusal
  x.member = route.pool.pick(x)
  return x.member === null ? refuse('tunnel_error', { retryAfter: route.pool.secondsUntilHope }) : null
}

/** Tells whether this gateway stands among the hops so far (RFC 8586); its parameters don't matter. */
function passedHere(x: Exchange): boolean {
  // As many hops as that are a loop, whoever they are.
  if (x.head.cdnLoop!.length > LONGEST_LOOP) return true
  const hops = x.head.cdnLoop!.replace(/;[^,]*/g, '')
  return listHas(hops, x.snapshot.name.toLowerCase())
}

/** Characters of CDN-Loop. */
const LONGEST_LOOP = 4096
