// Counts calls for which the webhook of a guard gave no verdict, for those who run the gateway.

import { guardsScope } from '../../activity/tally-scopes.ts'
import type { NoVerdict } from '../../guard/webhook/guard-webhooks.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** A caller who left is nobody's failure, and neither is too much text. */
export function countUndecided({ plane }: Exchange, { gateway }: AiExchange, outcome: NoVerdict): void {
  if (outcome === 'left' || outcome === 'too_large') return
  const { account, id } = gateway!
  plane.tallies.scope(guardsScope(account)).counter('limit', id).inc()
}
