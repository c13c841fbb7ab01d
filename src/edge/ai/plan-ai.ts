// Step 7 for AI calls: which provider, which path there, and with what body.
import { planCall } from '../../ai/plan.ts'
import type { Provider } from '../../ai/providers.ts'
import type { AiTarget } from '../../ai/target.ts'
import { type Fault, type Refusal, refuse } from '../../errors/refusal.ts'
import { Capture } from '../../ai-logs/capture.ts'
import { parseMetadata } from '../../ai-logs/metadata.ts'
import type { Gateway } from '../../store/records.ts'
import { callerOf } from './callers.ts'
import type { AiExchange } from './ai-exchange.ts'
import { type Once, REPEATED } from './ai-fields.ts'
import type { Exchange, Verdict } from '../exchange.ts'
import { gatherBody } from '../client/gather-body.ts'
import { JSON_TYPE } from './json-type.ts'
import { meterGateway } from '../meter/gateway.ts'
import { bringsCredential } from './outbound-ai.ts'
import { refuseWithoutKey } from './provider-keys.ts'
import { rewritingOf } from './rewriting.ts'

type Native = AiTarget & { readonly api: 'native' }
type Parsed = Exclude<AiTarget, Native>

/** Picks the provider, or refuses: one that nobody knows (404), a body that can't be understood (400, 415), fields for the gateway that make no sense (400), one over the limit of its gateway (1015). */
export function planAi(x: Exchange, ai: AiExchange): Verdict {
  const refusal = meterGateway(x, ai) ?? readWishes(ai)
  if (refusal !== null) return refusal
  return ai.target.api === 'native' ? planNative(x, ai, ai.target) : planParsed(x, ai, ai.target)
}

/** Reads what the caller wants to be kept of the call; refuses what nobody here understands, as it may be what the caller relies on. */
function readWishes(ai: AiExchange): Refusal | null {
  const { gatewayId, metadata, collectLog, collectLogPayload, unknown } = ai.fields
  if (unknown !== null) return badField(`${unknown} is not supported by this gateway`)
  if (ai.target.api !== 'rest' && gatewayId !== null && gatewayId !== ai.target.gateway)
    return badField('svc-aig-gateway-id must name the gateway of the path, or be left out')
  if (!isWish(collectLog)) return badField('svc-aig-collect-log must be true or false, once')
  if (!isWish(collectLogPayload)) return badField('svc-aig-collect-log-payload must be true or false, once')
  const { logManagement, collectLogs } = ai.gateway as Gateway
  ai.isLogged = logManagement > 0 && collectLog !== 'false'
  ai.keepsPayloads = ai.isLogged && collectLogs && collectLogPayload !== 'false'
  if (metadata === null) return null
  if (metadata === REPEATED) return badField('svc-aig-metadata must come once')
  const reading = parseMetadata(metadata)
  if ('flaw' in reading) return badField(`svc-aig-metadata ${reading.flaw}`)
  ai.metadata = reading.value
  return null
}

function isWish(value: Once): boolean {
  return value === null || value === 'true' || value === 'false'
}

/** Leaves the body alone: it is passed on byte for byte, and as it comes where the call has no choice of keys. */
function planNative(x: Exchange, ai: AiExchange, target: Native): Verdict {
  const { provider: name, path } = target
  const route = x.snapshot.ai!.providers.native(name, path)
  if ('error' in route) return route
  if (route.provider.dialect === 'anthropic') x.aiCaller = callerOf(target, 'anthropic')
  if (ai.keepsPayloads) ai.request = new Capture({ isEncoded: ai.fields.contentEncoding !== null })
  if (ai.body !== null) ai.request?.take(ai.body)
  const refusal = sendTo(x, ai, route.provider, route.path)
  if (refusal !== null || ai.keys === null || ai.body !== null || x.requestBody.done) return refusal
  // Only a body that is kept can be sent again with another key; where there is no room, it passes by.
  const gathering = gatherBody(x, ai)
  return gathering instanceof Promise ? gathering : null
}

function planParsed(x: Exchange, ai: AiExchange, target: Parsed): Verdict {
  if (ai.body === null) return wrongType(ai) ?? gatherBody(x, ai)
  const streamUsage = ai.isLogged && (ai.gateway as Gateway).streamUsage !== false
  const call = planCall(target, ai.body, x.snapshot.ai!.providers, { streamUsage })
  if ('error' in call) return call
  if (ai.keepsPayloads) {
    ai.request = new Capture({ isEncoded: false })
    ai.request.take(ai.body)
  }
  ai.body = call.body
  ai.model = call.model
  ai.asks = call.asks
  x.aiCaller = callerOf(target, call.dialect)
  ai.rewriting = rewritingOf(call)
  return sendTo(x, ai, call.provider, call.path)
}

function sendTo(x: Exchange, ai: AiExchange, provider: Provider, path: string): Refusal | null {
  const route = x.snapshot.ai!.routeTo(provider)
  ai.provider = provider
  ai.path = path
  x.route = route
  x.member = route.pool.pick(x)
  if (route.keys.size < 2 || bringsCredential(x.head, ai)) return null
  ai.keys = route.keys
  return refuseWithoutKey(x, ai)
}

/** Refuses a body that says it is no plain JSON. */
function wrongType({ fields: { contentType, contentEncoding } }: AiExchange): Refusal | null {
  const isJson = contentType === null || JSON_TYPE.test(contentType)
  if (isJson && contentEncoding === null) return null
  const message = 'The body must be JSON: Content-Type: application/json, without Content-Encoding'
  return refuse('unsupported_media_type', { faults: [fault(6004, message)] })
}

function badField(message: string): Refusal {
  return refuse('bad_request', { faults: [fault(10001, message)] })
}

function fault(code: number, message: string): Fault {
  return { code, message, pointer: null }
}
