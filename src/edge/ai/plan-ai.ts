// Plans an AI call: its provider, path and body.

import { planCall } from '../../ai/plan.ts'
import type { Provider } from '../../ai/providers/providers.ts'
import type { AiTarget } from '../../ai/target.ts'
import type { Translation } from '../../ai/translate/translation.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import { audienceOf } from '../ai-call/audience-of-call.ts'
import { noWebSocket } from './locate-ai.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange, Verdict } from '../exchange/exchange.ts'
import { gatherBody } from '../exchange/gather-body.ts'
import { bringsCredential } from '../ai-call/outbound-call.ts'
import { refuseWithoutKey } from './provider-keys.ts'
import { jsonType, rewritingOf } from '../ai-call/rewriting.ts'

type Native = AiTarget & { readonly api: 'native' }
type Parsed = Exclude<AiTarget, Native>

/**
 * Picks the provider, or refuses: an unknown one (404), a body that cannot be understood (400, 415). Waits
 * for a body that must be buffered or parsed.
 */
export function planAi(x: Exchange, ai: AiExchange): Verdict {
  return ai.target.api === 'native' ? planNative(x, ai, ai.target) : planParsed(x, ai, ai.target)
}

/** Passes the body on byte for byte, and streams it unless there are several keys to choose from. */
function planNative(x: Exchange, ai: AiExchange, target: Native): Verdict {
  const { provider: name, path } = target
  const route = x.snapshot.ai!.providers.native(name, path, ai.token !== null)
  if ('error' in route) return x.upgrade === 'requested' && route.error === 'not_found' ? noWebSocket : route
  if (route.provider.dialect === 'anthropic') x.audience = audienceOf(target, 'anthropic')
  const refusal = sendTo(x, ai, route.provider, route.path)
  if (refusal !== null || ai.keys === null || x.requestBody.done) return refusal
  // Only a buffered body can be sent again with another key. One that is too large or finds no room is
  // streamed.
  const limit = x.route!.config.bodyLimit
  if (x.head.contentLength > limit) return null
  const { bodyLimit } = x
  x.bodyLimit = Math.min(bodyLimit, limit)
  const gathering = gatherBody(x)
  if (!(gathering instanceof Promise)) {
    x.bodyLimit = bodyLimit
    return null
  }
  return gathering.then(body => {
    x.tap?.noteRequest(body)
    ai.body = body
    // The keys may be resting by now.
    return sendTo(x, ai, route.provider, route.path)
  })
}

function planParsed(x: Exchange, ai: AiExchange, target: Parsed): Verdict {
  const refusal = refuseWrongType(ai)
  if (refusal !== null) return refusal
  const gathering = gatherBody(x)
  if (gathering instanceof Promise) return gathering.then(body => planWithBody(x, ai, target, body))
  x.plane.metrics.ai.callsWithoutRoom.inc()
  return gathering
}

function planWithBody(x: Exchange, ai: AiExchange, target: Parsed, body: Buffer): Refusal | null {
  const { providers, usageRefusals: refusals } = x.snapshot.ai!
  const streamUsage = ai.gateway!.streamUsage !== false
  const call = planCall(target, body, providers, {
    streamUsage,
    isLogged: x.tap !== null,
    isChecked: ai.token !== null,
    refusals,
  })
  if ('error' in call) return call
  x.tap?.noteRequest(body)
  ai.body = call.body
  ai.model = call.model
  ai.providerDialect = call.asks
  x.audience = audienceOf(target, call.dialect)
  ai.rewriting = rewritingOf(call)
  if (call.translation !== null) reportDropped(x, call.translation)
  if (call.asksUsage) ai.callWithUsage = call
  return sendTo(x, ai, call.provider, call.path)
}

/** Names what the translation left out, in the response and in the log. */
function reportDropped(x: Exchange, { dropped }: Translation): void {
  if (dropped.length === 0) return
  x.addedLines += `svc-aig-dropped: ${dropped.join(', ')}\r\n`
  if (x.tap !== null) x.tap.dropped = dropped
}

function sendTo(x: Exchange, ai: AiExchange, provider: Provider, path: string): Refusal | null {
  const route = x.snapshot.ai!.routeTo(provider)
  ai.provider = provider
  ai.path = path
  if (provider.withoutKey !== null && needsKey(x) && !bringsCredential(x.head, ai)) return provider.withoutKey
  x.route = route
  ai.calls = route.calls
  x.member = route.pool.pick(x)
  if (route.keys.size < 2 || bringsCredential(x.head, ai)) return null
  ai.keys = route.keys
  return refuseWithoutKey(x, ai)
}

/**
 * Whether no provider takes a call without a key. Some have public lists of models, and a WebSocket handshake
 * may bring a key as a subprotocol.
 */
function needsKey({ head: { method } }: Exchange): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

/** Refuses a body whose type or encoding is not plain JSON. */
function refuseWrongType({ fields: { contentType, contentEncoding } }: AiExchange): Refusal | null {
  const isJson = contentType === null || jsonType.test(contentType)
  if (isJson && contentEncoding === null) return null
  return refuseCall('no_plain_json')
}
