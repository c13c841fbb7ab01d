// How a call with an Idempotency-Key has ended, which decides what its repetitions get.

import type { Flight } from '../../answers/flight.ts'
import { lifetime } from '../../answers/claimed-calls.ts'
import { isWholeResponse } from '../../answers/whole-response.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** Ends the claim of a call whose response came to its end. An error leaves the key to the next call. */
export function endClaim(x: Exchange, ai: AiExchange, flight: Flight, isDelimited: boolean): void {
  const claim = ai.claim!
  const head = flight.head!
  ai.claim = null
  if (head.status > 299) return claim.end(ai.mayHaveWorkedBefore ? 'broken' : 'released')
  const { isWhole, use } = flight
  const body = isWhole ? flight.body : none
  // Of a body that only its connection ends, a stream alone tells where that is.
  if (!isWhole || !(isDelimited || (head.isEventStream && isWholeResponse({ ...head, body }))))
    return claim.end('broken')
  const storedAt = x.plane.clock.now()
  const answer = { head, use: use!, storedAt, expiresAt: storedAt + lifetime, body }
  void x.plane
    .ai!.answers!.keep(claim.call.answerPlace, answer)
    .then(isStored => claim.end(isStored ? 'made' : 'broken'))
}

/** Ends the claim of a call without a whole response: only if nothing was done, another one may be made. */
export function dropClaim(ai: AiExchange): void {
  const claim = ai.claim!
  ai.claim = null
  claim.end(ai.mayHaveWorked || ai.mayHaveWorkedBefore ? 'broken' : 'released')
}

const none = Buffer.alloc(0)
