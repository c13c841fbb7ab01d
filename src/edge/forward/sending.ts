// What follows the body of a request on its way to an origin.

import type { Exchange } from '../exchange.ts'
import { holdsOurs, valueHoldsOurs } from '../../tokens/misplaced.ts'
import { keptTrailers } from '../rewrite/headers.ts'

/** Returns the trailers that go on: what ends at the gateway ends there behind the body too, and no provider asks for any. */
export function trailersOf(x: Exchange): string[] | null {
  if (x.requestBody.trailers === null || x.ai !== null) return null
  const trailers = keptTrailers(x.requestChanges, x.requestBody.trailers)
  return trailers !== null && x.snapshot.ai?.hosts.has(x.host) ? withoutOurs(trailers) : trailers
}

/** Returns the trailers without credentials of this gateway: on a host that a zone shares with AI routes, its origin must not see any. */
function withoutOurs(trailers: readonly string[]): string[] {
  return trailers.filter((_, i) => {
    const at = i - (i % 2)
    return !holdsOurs(trailers[at]!) && !valueHoldsOurs(trailers[at + 1]!)
  })
}
