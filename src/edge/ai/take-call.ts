// Takes a planned call to its provider, with everything that an attempt needs.

import { type Call, planCall } from '../../ai/plan.ts'
import { atCloud } from '../../ai/providers/cloud-call.ts'
import type { Provider } from '../../ai/providers/providers.ts'
import type { CallRequest } from '../../ai/request-body.ts'
import type { CompatTarget, RestTarget } from '../../ai/target.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { audienceOf } from '../ai-call/audience-of-call.ts'
import { bringsCredential } from '../ai-call/outbound-call.ts'
import { isRead } from '../ai-call/request-fields.ts'
import { rewritingOf } from '../ai-call/rewriting.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { refuseWithoutKey } from './provider-keys.ts'
import { refuseModel } from './token-limits.ts'

export type ParsedTarget = RestTarget | CompatTarget

/** Plans the call of the model that the request names; refuses it if the token may not call that one. */
export function planModel(
  x: Exchange,
  ai: AiExchange,
  target: ParsedTarget,
  asked: CallRequest,
): Call | Refusal {
  const { providers, usageRefusals: refusals } = x.snapshot.ai!
  const refusal = refuseModel(ai, asked, providers)
  if (refusal !== null) return refusal
  const call = planCall(target, asked, providers, {
    streamUsage: ai.gateway!.streamUsage !== false,
    isLogged: x.tap !== null,
    isChecked: ai.token !== null,
    refusals,
    isRouted: ai.isRouted,
  })
  return 'error' in call ? call : atCloud(call, x.head.fields)
}

/** Replaces any other call; refuses one for which there is no key. */
export function takeCall(x: Exchange, ai: AiExchange, target: ParsedTarget, call: Call): Refusal | null {
  ai.body = call.body
  ai.model = call.model
  ai.providerDialect = call.asks
  x.audience = audienceOf(target, call.dialect)
  ai.rewriting = rewritingOf(call)
  ai.dropped = call.dropped
  ai.callWithUsage = call.asksUsage ? call : null
  ai.isRetriedWithoutUsage = false
  return sendTo(x, ai, call.provider, call.path)
}

/** Makes a provider that of the exchange; refuses a call for which it has no key. */
export function sendTo(x: Exchange, ai: AiExchange, provider: Provider, path: string): Refusal | null {
  const route = x.snapshot.ai!.routeTo(provider)
  ai.provider = provider
  ai.path = path
  // Some providers have public lists of models, and a WebSocket handshake may bring a key as a subprotocol.
  const needsKey = provider.withoutKey !== null && !isRead(x.head)
  const mayBring = needsKey || route.keys.size > 1 || route.made !== null
  const bringsOwn = mayBring && bringsCredential(x.head, ai)
  if (needsKey && !bringsOwn) return provider.withoutKey
  x.route = route
  ai.calls = route.calls
  x.member = route.pool.pick(x)
  ai.key = null
  ai.made = bringsOwn ? null : route.made
  ai.keys = null
  ai.keyChanges = 0
  ai.doubtedKeys = null
  if (bringsOwn || route.keys.size < 2) return null
  ai.keys = route.keys
  return refuseWithoutKey(x, ai)
}
