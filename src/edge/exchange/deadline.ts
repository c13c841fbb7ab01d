// When the time for something is over, to the precision of the clock of deadlines.

import type { Exchange } from './exchange.ts'

/** Returns the monotonic ms at which a timeout of so many ms is over; 0 for none. */
export function deadlineIn(x: Exchange, timeout: number): number {
  return timeout === 0 ? Number.POSITIVE_INFINITY : x.plane.coarseNow + timeout
}
