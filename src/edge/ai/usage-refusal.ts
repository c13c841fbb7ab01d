// Retries a call if its provider refused the request for usage that only the gateway added.

import { withoutUsage } from '../../ai/plan.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { rewritingOf } from '../ai-call/rewriting.ts'

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
 * Remembers the model only once the call has succeeded without: an error may repeat words of its caller,
 * which must not keep the usage of others out of the log.
 */
export function noteUsageRefusal(x: Exchange, ai: AiExchange, { status }: ResponseHead): void {
  if (!ai.isRetriedWithoutUsage || status > 299) return
  const { provider, model } = ai
  if (x.snapshot.ai!.usageRefusals.add(provider!, model!))
    x.plane.log.info(
      { provider: provider!.name, model },
      'provider refuses stream_options, usage of streams not requested',
    )
}
