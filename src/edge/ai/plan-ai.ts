// Plans an AI call: its provider, path and body.

import type { RouteNode } from '../../ai/failover/model-route.ts'
import { readCall } from '../../ai/plan.ts'
import type { CallRequest } from '../../ai/request-body.ts'
import type { NativeTarget } from '../../ai/target.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { audienceOf } from '../ai-call/audience-of-call.ts'
import { noWebSocket } from './locate-ai.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange, Verdict } from '../exchange/exchange.ts'
import { gatherBody } from '../exchange/gather-body.ts'
import { bringsCredential } from '../ai-call/outbound-call.ts'
import { jsonType } from '../ai-call/rewriting.ts'
import { beginCourse, beginNativeCourse, routeOf } from './begin-course.ts'
import { type ParsedTarget, planModel, sendTo, takeCall } from './take-call.ts'

/**
 * Refuses an unknown provider (404), and a body that cannot be understood (400, 415). Waits for a body that
 * must be buffered or parsed.
 */
export function planAi(x: Exchange, ai: AiExchange): Verdict {
  return ai.target.api === 'native' ? planNative(x, ai, ai.target) : planParsed(x, ai, ai.target)
}

/** Streams the body unless it may have to be sent again. */
function planNative(x: Exchange, ai: AiExchange, target: NativeTarget): Verdict {
  const { provider: name, path } = target
  const route = x.snapshot.ai!.providers.native(name, path, ai.token !== null)
  if ('error' in route) return x.upgrade === 'requested' && route.error === 'not_found' ? noWebSocket : route
  if (route.provider.dialect === 'anthropic') x.audience = audienceOf(target, 'anthropic')
  const refusal = sendTo(x, ai, route.provider, route.path) ?? refuseForeign(x, ai, route.withoutCredential)
  if (refusal === null) beginNativeCourse(x, ai)
  if (refusal !== null || (ai.keys === null && ai.course === null) || x.requestBody.done) return refusal
  // Only a buffered body can be sent again. One that is too large or finds no room is
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

function refuseForeign(x: Exchange, ai: AiExchange, refusal: Refusal | null): Refusal | null {
  return refusal === null || bringsCredential(x.head, ai) ? null : refusal
}

function planParsed(x: Exchange, ai: AiExchange, target: ParsedTarget): Verdict {
  const refusal = refuseWrongType(ai)
  if (refusal !== null) return refusal
  const gathering = gatherBody(x)
  if (gathering instanceof Promise) return gathering.then(body => planWithBody(x, ai, target, body))
  x.plane.metrics.ai.callsWithoutRoom.inc()
  return gathering
}

function planWithBody(x: Exchange, ai: AiExchange, target: ParsedTarget, body: Buffer): Verdict {
  const asked = readCall(target, body)
  if ('error' in asked) return asked
  x.tap?.noteRequest(body)
  const route = routeOf(x, ai, asked)
  return route instanceof Promise
    ? route.then(route => planRouted(x, ai, target, asked, route))
    : planRouted(x, ai, target, asked, route)
}

const storeUnreachable = refuse('service_unavailable')

function planRouted(
  x: Exchange,
  ai: AiExchange,
  target: ParsedTarget,
  asked: CallRequest,
  route: RouteNode | null | 'store_unreachable',
): Verdict {
  if (route === 'store_unreachable') return storeUnreachable
  if (route !== null) return beginCourse(x, ai, target, asked, route)
  const call = planModel(x, ai, target, asked)
  return 'error' in call ? call : takeCall(x, ai, target, call)
}

function refuseWrongType({ fields: { contentType, contentEncoding } }: AiExchange): Refusal | null {
  const isJson = contentType === null || jsonType.test(contentType)
  if (isJson && contentEncoding === null) return null
  return refuseCall('no_plain_json')
}
