// Providers that refuse to be asked for the usage of a stream: where only the gateway asked, the call is made again without.

import { withoutUsage } from '../../ai/plan.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { rewritingOf } from '../ai-call/rewriting.ts'

/** The most bytes of an error that are read to learn its reason. */
export const largestReason = 64 * 1024

/** Whether a response may say that a provider does not know what the gateway asked for. */
export function mayRefuseUsage({ askingUsage }: AiExchange, { status, isEncoded }: ResponseHead): boolean {
  return askingUsage !== null && (status === 400 || status === 422) && !isEncoded
}

/** Whether an error names what the gateway added to a call. */
export function refusesUsage(reason: Buffer): boolean {
  return reason.includes('stream_options') || reason.includes('include_usage')
}

/** Has the call made again without what the gateway added. */
export function askWithoutUsage(ai: AiExchange): void {
  const plain = withoutUsage(ai.askingUsage!)
  ai.askingUsage = null
  ai.isAskedAgain = true
  ai.body = plain.body
  ai.rewriting = rewritingOf(plain)
}

/** Remembers the model once the call has succeeded without: an error may as well repeat words of its caller, which must not keep the usage of others out of the log. */
export function noteUsageRefusal(x: Exchange, ai: AiExchange, { status }: ResponseHead): void {
  if (!ai.isAskedAgain || status > 299) return
  const facts = { provider: ai.provider!.name, model: ai.model! }
  if (x.snapshot.ai!.usageRefusals.add(facts.provider, facts.model))
    x.plane.log.info(facts, 'provider refuses stream_options, usage of streams not requested')
}
