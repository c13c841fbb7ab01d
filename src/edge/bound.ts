// Step 7: whether a request keeps within bounds: the bytes of its body, and the hops that it has come by.

import { formatSize } from '../base/text/quantity.ts'
import { refuseCall } from '../errors/api-faults.ts'
import { type Refusal, refuse } from '../errors/refusal.ts'
import { listHas } from '../http1/fields.ts'
import type { Exchange } from './exchange.ts'

/** Refuses a body that is announced over the limit (413), and a request that was here before (1000). */
export function bound(x: Exchange): Refusal | null {
  x.bodyLimit = x.route!.config.bodyLimit
  if (x.head.contentLength > x.bodyLimit) return tooLarge(x)
  return x.head.cdnLoop !== null && passedHere(x) ? refuse('dns_loop') : null
}

/** Refuses a body over the limit (413), announced or counted; a caller of an AI route is told the limit. */
export function tooLarge(x: Exchange): Refusal {
  if (x.aiCaller === null) return refuse('content_too_large')
  return refuseCall('call_too_large', formatSize(x.bodyLimit))
}

/** Whether this gateway stands among the hops so far (RFC 8586); its parameters don't matter. */
function passedHere(x: Exchange): boolean {
  // So many hops are a loop, whatever their names.
  if (x.head.cdnLoop!.length > longestLoop) return true
  const hops = x.head.cdnLoop!.replace(/;[^,]*/g, '')
  return listHas(hops, x.snapshot.name.toLowerCase())
}

/** Characters of CDN-Loop. */
const longestLoop = 4096
