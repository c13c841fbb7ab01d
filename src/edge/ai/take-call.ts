// Takes a planned call to its provider, with everything that an attempt needs.

import { type Call, planCall } from '../../ai/plan.ts'
import { atCloud } from '../../ai/providers/cloud-call.ts'
import type { OwnKeys } from '../../ai/providers/gateway-keys.ts'
import type { Provider } from '../../ai/providers/providers.ts'
import type { CallRequest } from '../../ai/request-body.ts'
import type { CompatTarget, RestTarget } from '../../ai/target.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { AiExchange, Allowance } from '../ai-call/ai-exchange.ts'
import { audienceOf } from '../ai-call/audience-of-call.ts'
import { bringsCredential } from '../ai-call/outbound-call.ts'
import { isRead, repeated } from '../ai-call/request-fields.ts'
import { rewritingOf } from '../ai-call/rewriting.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { providersOf } from './own-providers.ts'
import { decideCall, isPoliced } from '../ai-call/policies.ts'
import { refuseWithoutKey } from './provider-keys.ts'
import { otherModelsOf, refuseModel } from './token-limits.ts'

export type ParsedTarget = RestTarget | CompatTarget

/** A planned call, as far as policies let it pass. */
export interface AllowedCall extends Call {
  readonly allowance: Allowance | null
}

/** Plans the call of the model that the request names; refuses one that token or policies do not allow. */
export function planModel(
  x: Exchange,
  ai: AiExchange,
  target: ParsedTarget,
  callRequest: CallRequest,
): AllowedCall | Refusal {
  const providers = providersOf(x, ai)
  const { usageRefusals: refusals } = x.snapshot.ai!
  const refusal = refuseModel(ai, callRequest, providers)
  if (refusal !== null) return refusal
  const call = planCall(target, callRequest, providers, {
    streamUsage: ai.gateway!.streamUsage !== false,
    isLogged: x.tap !== null,
    isChecked: ai.token !== null,
    refusals,
    isRouted: ai.isRouted,
  })
  if ('error' in call) return call
  const allowance = isPoliced(ai)
    ? decideCall(ai, call.provider, call.model, otherModelsOf(callRequest))
    : null
  if (allowance !== null && 'error' in allowance) return allowance
  return { ...atCloud(call, x.head.fields), allowance }
}

/** Replaces any other call; refuses one for which there is no key. */
export function takeCall(
  x: Exchange,
  ai: AiExchange,
  target: ParsedTarget,
  call: AllowedCall,
): Refusal | null {
  ai.body = call.body
  ai.model = call.model
  ai.providerDialect = call.asks
  x.audience = audienceOf(target, call.dialect)
  ai.rewriting = rewritingOf(call)
  ai.dropped = call.dropped
  ai.callWithUsage = call.asksUsage ? call : null
  ai.isRetriedWithoutUsage = false
  return sendTo(x, ai, call, call.allowance)
}

/** Makes a provider that of the exchange; refuses a call for which it has no key. */
export function sendTo(
  x: Exchange,
  ai: AiExchange,
  { provider, path }: { readonly provider: Provider; readonly path: string },
  allowance: Allowance | null,
): Refusal | null {
  const route = x.snapshot.ai!.routeTo(provider)
  const own = ownKeysFor(x, ai, provider)
  if (own !== null && 'error' in own) return own
  ai.allowance = allowance
  ai.provider = provider
  ai.withheld = route.withheld
  ai.path = path
  // Some providers have public lists of models, and a WebSocket handshake may bring a key as a subprotocol.
  const isOwnOnly = own === null && ai.gateway!.byokOnly === true
  const needsKey = own === null && provider.withoutKey !== null && !isRead(x.head)
  const ring = own?.ring ?? route.keys
  const mayBring = isOwnOnly || needsKey || ring.size > 1 || own !== null || route.made !== null
  const bringsOwn = mayBring && bringsCredential(x.head, ai)
  if (isOwnOnly && !bringsOwn) return refuseCall('no_own_key', provider.name)
  if (needsKey && !bringsOwn) return provider.withoutKey
  x.route = route
  ai.calls = route.calls
  x.member = route.pool.pick(x)
  ai.key = null
  ai.made = bringsOwn || own !== null ? null : route.made
  ai.ring = ring
  ai.ownKeys = own
  ai.keys = null
  ai.keyChanges = 0
  ai.doubtedKeys = null
  if (bringsOwn || ring.size < 2) return null
  ai.keys = ring
  return refuseWithoutKey(x, ai)
}

/** Null if the gateway has no key of its own for a provider; a refusal if none of them can be used. */
export function ownKeysFor(x: Exchange, ai: AiExchange, provider: Provider): OwnKeys | Refusal | null {
  const { keyAlias } = ai.fields
  if (keyAlias === repeated) return repeatedAlias
  const own = x.plane.ai!.keys.of(ai.gateway!, provider, keyAlias)
  if (own === 'unreadable') return refuseCall('unreadable_key', provider.name)
  return own === null && keyAlias !== null ? refuseCall('no_key_alias', provider.name) : own
}

const repeatedAlias = refuseCall('invalid', 'svc-aig-byok-alias', 'must be given once')
