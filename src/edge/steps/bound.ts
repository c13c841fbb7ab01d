// Whether a request is within its limits: the bytes of its body, and the hops that it has passed.

import { formatSize } from '../../base/text/quantity.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { hasPassedHere } from '../exchange/passed-here.ts'
import { countHop } from './max-forwards.ts'

/**
 * Refuses too long a body (413), and a request that passed this gateway before (1000). Responds to OPTIONS
 * that may not pass on.
 */
export function bound(x: Exchange): Refusal | 'responded' | null {
  x.bodyLimit = bodyLimitOf(x)
  if (x.head.contentLength > x.bodyLimit) return tooLarge(x)
  if (hasPassedHere(x)) return refuse('dns_loop')
  return x.head.method === 'OPTIONS' ? countHop(x) : null
}

/** A native AI call is streamed, and has a limit of its own. */
export function bodyLimitOf({ ai, route, snapshot }: Exchange): number {
  return ai?.target.api === 'native' ? snapshot.ai!.uploadLimit : route!.config.bodyLimit
}

/** On AI routes the response names the limit. */
export function tooLarge(x: Exchange): Refusal {
  if (x.audience.kind !== 'ai') return refuse('content_too_large')
  return refuseCall('call_too_large', formatSize(x.bodyLimit))
}
