// Plans an AI call: its provider, path and body.

import { formatSize } from '../../base/text/quantity.ts'
import { isReusableAt } from '../../answers/operations.ts'
import { limitsCost, type RouteNode } from '../../ai/failover/model-route.ts'
import { readCall } from '../../ai/plan.ts'
import type { NativeCall } from '../../ai/providers/providers.ts'
import type { CallRequest } from '../../ai/request-body.ts'
import { boundaryOf } from '../../ai/parsing/multipart.ts'
import { type CountTarget, type NativeTarget, takesForm } from '../../ai/target.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { audienceOf } from '../ai-call/audience-of-call.ts'
import { noWebSocket } from './locate-ai.ts'
import type { AiExchange, Allowance } from '../ai-call/ai-exchange.ts'
import type { Decided, Exchange, Verdict } from '../exchange/exchange.ts'
import { gatherBody } from '../exchange/gather-body.ts'
import { bringsCredential } from '../ai-call/outbound-call.ts'
import { jsonType } from '../ai-call/rewriting.ts'
import { countTokens } from './count-tokens.ts'
import { respondWithModels } from './list-models.ts'
import { beginCourse, beginNativeCourse, routeOf } from './begin-course.ts'
import { providersOf, withOwnProviders } from './own-providers.ts'
import { isMetered, measuringTap } from './open-log.ts'
import { decideCall, isPoliced } from '../ai-call/policies.ts'
import { calledModels, mayNameModels, refuseNativeModel } from './token-limits.ts'
import { type ParsedTarget, planModel, sendTo, takeCall } from './take-call.ts'

/**
 * Refuses an unknown provider (404), and a body that cannot be understood (400, 415). Waits for a body that
 * must be buffered or parsed.
 */
export function planAi(x: Exchange, ai: AiExchange): Decided {
  const { target } = ai
  if (target.api === 'native') return planNative(x, ai, target)
  if (target.operation === 'models') return respondWithModels(x, ai, target)
  return target.operation === 'count_tokens' ? planCount(x, ai, target) : planParsed(x, ai, target)
}

/** Streams the body unless it may have to be sent again. */
function planNative(x: Exchange, ai: AiExchange, target: NativeTarget): Verdict {
  return withOwnProviders(x, ai, target.provider, () => planKnown(x, ai, target))
}

function planKnown(x: Exchange, ai: AiExchange, target: NativeTarget): Verdict {
  const { provider: name, path } = target
  const route = providersOf(x, ai).native(name, path, ai.token !== null)
  if ('error' in route) return x.upgrade === 'requested' && route.error === 'not_found' ? noWebSocket : route
  if (route.provider.dialect === 'anthropic') x.audience = audienceOf(target, 'anthropic')
  const needsBody = ai.token?.models !== undefined || isPoliced(ai) || isRead(x, ai, route)
  return needsBody ? planLimited(x, ai, route) : planNativeCall(x, ai, route, null)
}

/** A body is read first if the models that it may name matter, or if it matters itself. */
function planLimited(x: Exchange, ai: AiExchange, route: NativeCall): Verdict {
  const { provider, path } = route
  const needsBody = isRead(x, ai, route) || mayNameModels(ai, provider, path)
  if (x.requestBody.done || !needsBody) {
    const allowance = allowNative(ai, route, noBody)
    return isRefusal(allowance) ? allowance : planNativeCall(x, ai, route, allowance)
  }
  x.bodyLimit = x.route!.config.bodyLimit
  const gathering = gatherBody(x)
  if (Buffer.isBuffer(gathering)) return planAllowed(x, ai, route, gathering)
  return gathering instanceof Promise ? gathering.then(body => planAllowed(x, ai, route, body)) : gathering
}

/** Whether the body matters for limits, for the guard or for whose response others may get. */
function isRead(x: Exchange, ai: AiExchange, { path }: NativeCall): boolean {
  if (isMetered(x, ai) || isInspected(ai) || ai.idempotencyKey !== null) return true
  const { cacheControls } = ai
  return cacheControls !== null && !cacheControls.isSkipped && isReusableAt(path)
}

function isInspected({ guard }: AiExchange): boolean {
  return guard !== null && (guard.request !== null || guard.requestWebhook !== null)
}

function planAllowed(x: Exchange, ai: AiExchange, route: NativeCall, body: Buffer): Refusal | null {
  const allowance = allowNative(ai, route, body)
  return isRefusal(allowance) ? allowance : planNativeWith(x, ai, route, allowance, body)
}

const noBody = Buffer.alloc(0)

/** Refuses a call that token or policies do not allow. */
function allowNative(
  ai: AiExchange,
  { provider, path }: NativeCall,
  body: Buffer,
): Allowance | null | Refusal {
  const refusal = ai.token?.models === undefined ? null : refuseNativeModel(ai, provider, path, body)
  if (refusal !== null || !isPoliced(ai)) return refusal
  const [model, ...others] = calledModels(ai, provider, path, body)
  return decideCall(ai, provider, model, others)
}

function isRefusal(allowance: Allowance | null | Refusal): allowance is Refusal {
  return allowance !== null && 'error' in allowance
}

function planNativeWith(
  x: Exchange,
  ai: AiExchange,
  route: NativeCall,
  allowance: Allowance | null,
  body: Buffer,
): Refusal | null {
  x.tap?.noteRequest(body)
  ai.body = body
  const refusal = sendNative(x, ai, route, allowance)
  if (refusal === null && ai.course === null) beginNativeCourse(x, ai)
  return refusal
}

function planNativeCall(
  x: Exchange,
  ai: AiExchange,
  route: NativeCall,
  allowance: Allowance | null,
): Verdict {
  const refusal = sendNative(x, ai, route, allowance)
  if (refusal === null) beginNativeCourse(x, ai)
  const isSigned = ai.made !== null && route.provider.isSigned
  if (refusal !== null || x.requestBody.done) return refusal
  if (ai.keys === null && ai.course === null && !isSigned) return null
  // Only a buffered body can be sent again. One that is too large or finds no room is
  // streamed.
  const limit = x.route!.config.bodyLimit
  if (x.head.contentLength > limit) return isSigned ? refuseCall('call_too_large', formatSize(limit)) : null
  const { bodyLimit } = x
  x.bodyLimit = Math.min(bodyLimit, limit)
  const gathering = gatherBody(x)
  // The keys may be resting by then.
  if (gathering instanceof Promise)
    return gathering.then(body => planNativeWith(x, ai, route, allowance, body))
  if (Buffer.isBuffer(gathering)) return planNativeWith(x, ai, route, allowance, gathering)
  x.bodyLimit = bodyLimit
  return isSigned ? gathering : null
}

function sendNative(
  x: Exchange,
  ai: AiExchange,
  route: NativeCall,
  allowance: Allowance | null,
): Refusal | null {
  const { withoutCredential: foreign } = route
  const refusal = sendTo(x, ai, route, allowance)
  if (refusal !== null || foreign === null) return refusal
  return bringsCredential(x.head, ai) ? null : foreign
}

function planParsed(x: Exchange, ai: AiExchange, target: ParsedTarget): Verdict {
  const refusal = refuseWrongType(ai, takesForm(target))
  if (refusal !== null) return refusal
  const gathering = gatherBody(x)
  if (gathering instanceof Promise) return gathering.then(body => planWithBody(x, ai, target, body))
  if (Buffer.isBuffer(gathering)) return planWithBody(x, ai, target, gathering)
  x.plane.metrics.ai.callsWithoutRoom.inc()
  return gathering
}

/** Counts are not logged: they are no calls of a model. */
function planCount(x: Exchange, ai: AiExchange, target: CountTarget): Decided {
  const refusal = refuseWrongType(ai, false)
  if (refusal !== null) return refusal
  x.tap = null
  const count = (body: Buffer) => {
    if (isInspected(ai)) ai.received = body
    return countTokens(x, ai, target, body)
  }
  const gathering = gatherBody(x)
  if (Buffer.isBuffer(gathering)) return count(gathering)
  return gathering instanceof Promise ? gathering.then(count) : gathering
}

function planWithBody(x: Exchange, ai: AiExchange, target: ParsedTarget, body: Buffer): Verdict {
  const callRequest = readCall(target, body, ai.fields.contentType)
  if ('error' in callRequest) return callRequest
  x.tap?.noteRequest(body)
  if (isInspected(ai) || ai.cacheControls !== null || ai.idempotencyKey !== null) ai.received = body
  return withOwnProviders(x, ai, callRequest.model, () => planRequest(x, ai, target, callRequest))
}

function planRequest(x: Exchange, ai: AiExchange, target: ParsedTarget, callRequest: CallRequest): Verdict {
  const route = routeOf(x, ai, callRequest)
  return route instanceof Promise
    ? route.then(route => planRouted(x, ai, target, callRequest, route))
    : planRouted(x, ai, target, callRequest, route)
}

const storeUnreachable = refuse('service_unavailable')

function planRouted(
  x: Exchange,
  ai: AiExchange,
  target: ParsedTarget,
  callRequest: CallRequest,
  route: RouteNode | null | 'store_unreachable',
): Verdict {
  if (route === 'store_unreachable') return storeUnreachable
  if (route !== null && limitsCost(route)) x.tap ??= measuringTap(ai)
  if (route !== null) return beginCourse(x, ai, target, callRequest, route)
  const call = planModel(x, ai, target, callRequest)
  return 'error' in call ? call : takeCall(x, ai, target, call)
}

function refuseWrongType(
  { fields: { contentType, contentEncoding } }: AiExchange,
  mayBeForm: boolean,
): Refusal | null {
  const isJson = contentType === null || jsonType.test(contentType)
  const isForm = mayBeForm && contentType !== null && boundaryOf(contentType) !== null
  if ((isJson || isForm) && contentEncoding === null) return null
  return refuseCall('no_plain_json')
}
