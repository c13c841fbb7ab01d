// The refusal for the failure of an origin, and the log of a local one.

import { errorRows } from '../../errors/catalogue/catalogue.ts'
import { type Cause, type Failure, originFailure } from '../../errors/catalogue/origin-failure.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { Phase } from '../../errors/catalogue/phase.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
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
  if (failure.way === 'GH_NO_KEY') return withoutKey(x.ai!, failure.cause)
  return refuse(error, {}, failure.cause)
}

/** Refuses until the next attempt to make a key; why the last one failed is for the operator. */
function withoutKey({ provider, made }: AiExchange, cause: Cause): Refusal {
  const { title: heading } = errorRows.service_unavailable
  const { name } = provider!
  const wording = {
    heading,
    detail: `The gateway could not get a key for ${name}, so your request was not sent there.`,
    guidance:
      '**Wait and retry.** Try again no sooner than {retry_after} s from now. If the error persists, tell the operator of the gateway, whose dashboard shows at the provider why there is no key.',
    isOfRequest: true,
  }
  const retryAfter = Math.max(1, Math.ceil((made?.wait ?? 0) / 1000))
  return refuse('service_unavailable', { retryAfter, wording }, cause)
}
