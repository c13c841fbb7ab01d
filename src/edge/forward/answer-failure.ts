// What the client gets for the failure of an origin, and what the operator hears of one that is ours.

import { type Failure, originFailure } from '../../errors/catalogue/origin-failure.ts'
import { refuse } from '../../errors/catalogue/refusal.ts'
import type { Phase } from '../../errors/catalogue/phase.ts'
import { answer } from '../exchange/deliver.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** Answers a request with the error for how its origin failed in this phase. */
export function answerFailure(x: Exchange, phase: Phase, failure: Failure): void {
  const error = originFailure(phase, failure)
  // No fault of the origin and none of a line of code: what this machine has run out of.
  if (failure.way === 'no_descriptor') x.plane.noteShortage(failure.cause)
  else if (error === 'internal_server_error')
    x.plane.log.error(
      { err: failure.cause, ray: x.ray, phase },
      'local failure while connecting to the origin',
    )
  answer(x, refuse(error, {}, failure.cause))
}
