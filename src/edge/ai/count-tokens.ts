// Counts the tokens of a call of Messages: by its provider where that can, else by an estimate.

import { modelAt, type RouteNode } from '../../ai/failover/model-route.ts'
import { type CallRequest, readRequest } from '../../ai/request-body.ts'
import type { Provider } from '../../ai/providers/providers.ts'
import type { CountTarget } from '../../ai/target.ts'
import { estimatedTokens } from '../../ai/usage/estimate.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Decided, Exchange } from '../exchange/exchange.ts'
import { routeOf } from './begin-course.ts'
import { CallJourney } from './journey.ts'
import { respondWithJson } from './own-response.ts'
import { providersOf, withOwnProviders } from './own-providers.ts'
import { decideCall, wouldAllow } from '../ai-call/policies.ts'
import { planModel, takeCall } from './take-call.ts'
import { otherModelsOf } from './token-limits.ts'

/** Of an alias, the first model that can be called is meant. What policies do not allow is not counted. */
export function countTokens(x: Exchange, ai: AiExchange, target: CountTarget, body: Buffer): Decided {
  const callRequest = readRequest(body)
  if ('error' in callRequest) return callRequest
  return withOwnProviders(x, ai, callRequest.model, () => countRequest(x, ai, target, callRequest))
}

function countRequest(x: Exchange, ai: AiExchange, target: CountTarget, callRequest: CallRequest): Decided {
  const route = routeOf(x, ai, callRequest)
  return route instanceof Promise
    ? route.then(route => countFor(x, ai, target, callRequest, route))
    : countFor(x, ai, target, callRequest, route)
}

function countFor(
  x: Exchange,
  ai: AiExchange,
  target: CountTarget,
  callRequest: CallRequest,
  route: RouteNode | null | 'store_unreachable',
): Refusal | 'responded' | null {
  if (route === 'store_unreachable') return refuse('service_unavailable')
  const model = route === null ? callRequest.model : firstModel(x, ai, route)
  const match = providersOf(x, ai).model(model)
  if (match !== null && !canCount(match.provider)) {
    const allowance = decideCall(ai, match.provider, match.name, otherModelsOf(callRequest))
    if (allowance !== null && 'error' in allowance) return allowance
    return respondWithJson(x, estimateOf(callRequest), 'svc-aig-estimated: true\r\n')
  }
  const messages = { ...target, operation: 'messages' } as const
  const call = planModel(x, ai, messages, { ...callRequest, model })
  if ('error' in call) return call
  const [path, query] = call.path.split('?', 2)
  const counting = `${path}/count_tokens${query === undefined ? '' : `?${query}`}`
  return takeCall(x, ai, messages, { ...call, path: counting })
}

/** Claude at a cloud has another API for this. */
function canCount({ dialect, claude }: Provider): boolean {
  return dialect === 'anthropic' && claude === null
}

/** The name that was asked for, if no model can be called. */
function firstModel(x: Exchange, ai: AiExchange, route: RouteNode): string {
  const { draw, facts } = new CallJourney(x, ai, { mayWait: false, passed: null })
  const journey = { draw, facts, spend: () => true, pass: () => {} }
  let first = ''
  for (let from: RouteNode | null = route; from !== null; ) {
    const node = modelAt(from, journey)
    if (node === null || node instanceof Promise) break
    first ||= node.model
    const model = providersOf(x, ai).model(node.model)
    if (model?.provider.withoutKey === null && wouldAllow(ai, model.provider, model.name)) return node.model
    from = node.fallback
  }
  return first
}

function estimateOf({ request }: CallRequest): string {
  return JSON.stringify({ input_tokens: estimatedTokens(request) })
}
