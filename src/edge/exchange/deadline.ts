// Deadlines, in the precision of the data plane's tick.

import type { Exchange } from './exchange.ts'

/** Returns the monotonic ms at which a timeout in ms is over; 0 disables it. */
export function deadlineIn(x: Exchange, timeout: number): number {
  return timeout === 0 ? Number.POSITIVE_INFINITY : x.plane.coarseNow + timeout
}
