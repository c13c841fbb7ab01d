// Shares the response to an AI call with those that wait for it, and keeps it for later ones.

import type { AnswerHead, AnswerUse } from '../../answers/answer.ts'
import type { Flight } from '../../answers/flight.ts'
import { isWholeResponse } from '../../answers/whole-response.ts'
import { usageOf } from '../../ai/usage/usage.ts'
import type { Framing } from '../../http1/body/body.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { EventFrames, hasEventFrames } from '../ai-call/event-frames.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { endClaim } from './claim-end.ts'

/** Begins the response, which a guard may hold; null if nobody else gets it. */
export function shareHead(ai: AiExchange, head: ResponseHead, isHeld: boolean): Flight | null {
  const { flight } = ai
  if (flight === null) return null
  flight.isHeld = isHeld
  if (head.status === 200 || head.status > 399 || (ai.claim !== null && head.status < 300)) {
    flight.begin(answerHead(head))
    return flight
  }
  flight.fail(false)
  ai.flight = null
  return null
}

/** Ends the response, and stores it if it says by itself that it is whole. */
export function shareEnd(x: Exchange, ai: AiExchange, flight: Flight, framing: Framing): void {
  const answers = x.plane.ai!.answers!
  const head = flight.head!
  ai.flight = null
  const isGood = head.status === 200
  const isDelimited = framing !== 'close'
  flight.use = isGood ? useOf(x, ai, flight) : noUse
  flight.end()
  if (ai.claim !== null) return endClaim(x, ai, flight, isDelimited)
  // Of a body that only its connection ends, a stream alone tells where that is.
  if (!isGood || !flight.isWhole || !(isDelimited || head.isEventStream)) return
  const { body } = flight
  if (!(hasEventFrames(head) ? areWhole(body) : isWholeResponse({ ...head, body }))) return
  const storedAt = x.plane.clock.now()
  const expiresAt = storedAt + ai.cacheControls!.ttl * 1000
  answers.put(flight.place, { head, use: flight.use, storedAt, expiresAt, body })
}

/** Whether the frames of AWS are those of a stream that came to its true end. */
function areWhole(body: Buffer): boolean {
  const frames = new EventFrames()
  const events = frames.push(body)
  if (events === null || events === false || !frames.isWhole) return false
  return isWholeResponse({ contentType: null, isEventStream: true, isEncoded: false, body: events })
}

function answerHead(head: ResponseHead): AnswerHead {
  const fields: string[] = []
  for (let i = 0; i < head.fields.length; i += 2)
    if (passed.test(head.fields[i]!)) fields.push(head.fields[i]!, head.fields[i + 1]!)
  const { status, reason, contentType, isEventStream, isEncoded } = head
  return { status, reason, fields, contentType, isEventStream, isEncoded }
}

/** What else a provider says is about its own caller: ids, limits and times. */
const passed =
  /^(?:content-(?:type|encoding|language|disposition)|retry-after|retry-after-ms|x-should-retry)$/i

const noUse: AnswerUse = { tokensIn: null, tokensOut: null, cost: null }

/** By what the provider said, of which the caller may not have got all. */
function useOf({ tap, plane }: Exchange, ai: AiExchange, flight: Flight): AnswerUse {
  const capture = tap === null ? null : tap.response
  if (capture?.isEncoded || (capture === null && !flight.isWhole)) return noUse
  // The log has the events of frames.
  const isEventStream = flight.head!.isEventStream || (capture !== null && hasEventFrames(flight.head!))
  const head = capture === null ? flight.body : capture.head()
  const tail = capture === null ? empty : capture.tail()
  const usage = usageOf({ head, tail, isEventStream, isWhole: true })
  const cost = plane.ai!.prices.costOf(ai.provider!.name, ai.model ?? usage.model, usage)
  return { tokensIn: usage.tokensIn, tokensOut: usage.tokensOut, cost }
}

const empty = Buffer.alloc(0)
