// The refusal for the failure of an origin, and the log of a local one.

import { type Failure, originFailure } from '../../errors/catalogue/origin-failure.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { Phase } from '../../errors/catalogue/phase.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { noteNoResponse } from '../ai/provider-states.ts'

export function refusalOfFailure(x: Exchange, phase: Phase, failure: Failure): Refusal {
  const error = originFailure(phase, failure)
  if (x.ai !== null) noteNoResponse(x, x.ai, error, failure.cause)
  // A local shortage, neither the origin's fault nor a bug.
  if (failure.way === 'no_descriptor') x.plane.noteShortage(failure.cause)
  else if (error === 'internal_server_error')
    x.plane.log.error(
      { err: failure.cause, ray: x.ray, phase },
      'local failure while connecting to the origin',
    )
  return refuse(error, {}, failure.cause)
}
