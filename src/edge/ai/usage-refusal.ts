// Providers that refuse a request for the usage of a stream. If only the gateway asked for it, the call is
// retried without.

import { withoutUsage } from '../../ai/plan.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { rewritingOf } from '../ai-call/rewriting.ts'

/** Bytes of an error that are read to learn its reason. */
export const maxReasonSize = 64 * 1024

/** Whether a response may be a refusal of what the gateway added. */
export function mayRefuseUsage({ callWithUsage }: AiExchange, { status, isEncoded }: ResponseHead): boolean {
  return callWithUsage !== null && (status === 400 || status === 422) && !isEncoded
}

/** Whether an error names what the gateway added to a call. */
export function refusesUsage(reason: Buffer): boolean {
  return reason.includes('stream_options') || reason.includes('include_usage')
}

/** Prepares the retry of a call without what the gateway added. */
export function retryWithoutUsage(ai: AiExchange): void {
  const plain = withoutUsage(ai.callWithUsage!)
  ai.callWithUsage = null
  ai.isRetriedWithoutUsage = true
  ai.body = plain.body
  ai.rewriting = rewritingOf(plain)
}

/**
 * Remembers the model once the call has succeeded without. Not before: an error may just repeat words of its
 * caller, which must not keep the usage of others out of the log.
 */
export function noteUsageRefusal(x: Exchange, ai: AiExchange, { status }: ResponseHead): void {
  if (!ai.isRetriedWithoutUsage || status > 299) return
  const facts = { provider: ai.provider!.name, model: ai.model! }
  if (x.snapshot.ai!.usageRefusals.add(facts.provider, facts.model))
    x.plane.log.info(facts, 'provider refuses stream_options, usage of streams not requested')
}
