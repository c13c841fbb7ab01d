// The trailers of a request on its way to an origin.

import type { Exchange } from '../exchange/exchange.ts'
import { holdsOurs, valueHoldsOurs } from '../../tokens/misplaced-tokens.ts'
import { remainingFields } from '../rewrite/headers.ts'

/** Returns the trailers for the origin, without our credentials; none for providers. */
export function trailersOf(x: Exchange): string[] | null {
  if (x.requestBody.trailers === null || x.ai !== null) return null
  const claimless = remainingFields(x.admission?.changes ?? null, x.requestBody.trailers)
  const trailers = remainingFields(x.requestChanges, claimless)
  return trailers === null ? null : withoutOurs(trailers)
}

/** When trailers come, the request can no longer be refused. */
function withoutOurs(trailers: readonly string[]): string[] {
  return trailers.filter((_, i) => {
    const at = i - (i % 2)
    return !holdsOurs(trailers[at]!) && !valueHoldsOurs(trailers[at + 1]!)
  })
}
