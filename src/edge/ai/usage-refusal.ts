// Providers that refuse to be asked for the usage of a stream: where only the gateway asked, the call is made again without.

import { withoutUsage } from '../../ai/plan.ts'
import type { ResponseHead } from '../../http1/response-head.ts'
import type { Exchange } from '../exchange.ts'
import type { AiExchange } from './ai-exchange.ts'
import { rewritingOf } from './rewriting.ts'

/** The most bytes of an error that are read to learn its reason. */
export const largestReason = 64 * 1024

/** Whether a response may say that a provider does not know what the gateway asked for. */
export function mayRefuseUsage({ askingUsage }: AiExchange, { status, isEncoded }: ResponseHead): boolean {
  return askingUsage !== null && (status === 400 || status === 422) && !isEncoded
}

/** Makes the call again where an error names what the gateway added to it, and remembers the model; false where it says something else. */
export function askWithoutUsage(x: Exchange, ai: AiExchange, reason: Buffer): boolean {
  const call = ai.askingUsage!
  if (!reason.includes('stream_options') && !reason.includes('include_usage')) return false
  const { provider, model } = call
  if (x.snapshot.ai!.usageRefusals.add(provider.name, model))
    x.plane.log.info(
      { provider: provider.name, model },
      'provider refuses stream_options, usage of streams not requested',
    )
  const plain = withoutUsage(call)
  ai.askingUsage = null
  ai.body = plain.body
  ai.rewriting = rewritingOf(plain)
  return true
}
