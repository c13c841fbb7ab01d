// Puts another body in the place of one that the guard has changed, wherever it may be sent from.

import type { Call } from '../../ai/plan.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** `change` is applied to the body for each attempt, however that was made of what the caller sent. */
export function replaceBody(x: Exchange, ai: AiExchange, change: (body: Buffer) => Buffer): void {
  const { course, callWithUsage, received } = ai
  if (received !== null) ai.received = change(received)
  if (ai.body !== null) ai.body = change(ai.body)
  if (course !== null && course.body !== null) course.body = change(course.body)
  if (callWithUsage !== null) ai.callWithUsage = changed(callWithUsage, change)
  x.tap?.replaceRequest(ai.received ?? ai.body!)
}

function changed(call: Call, change: (body: Buffer) => Buffer): Call {
  const { body, callersBody } = call
  return { ...call, body: change(body), callersBody: callersBody === null ? null : change(callersBody) }
}
