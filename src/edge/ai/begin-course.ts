// Begins the course of an AI call that may take more than one attempt: of an alias, or of one model.

import {
  type Controls,
  readBackoff,
  readDelay,
  readMaxAttempts,
  readTimeout,
} from '../../ai/failover/controls.ts'
import { modelAt, type ModelNode, type PassedRate, type RouteNode } from '../../ai/failover/model-route.ts'
import type { CallRequest } from '../../ai/request-body.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { MaybeAtOnce } from '../../store/contract/store.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { readOnce } from '../ai-call/read-once.ts'
import { Course } from '../ai-call/course.ts'
import type { Exchange, Verdict } from '../exchange/exchange.ts'
import { CallJourney } from './journey.ts'
import { allowsName } from './token-limits.ts'
import { type AllowedCall, ownKeysFor, type ParsedTarget, planModel, takeCall } from './take-call.ts'

/** Refuses a value out of its bounds (400). */
export function controlsOf({ fields }: AiExchange): Controls | Refusal {
  if (!fields.hasControls) return noControls
  const timeout = readOnce('svc-aig-request-timeout', fields.requestTimeout, readTimeout)
  const maxAttempts = readOnce('svc-aig-max-attempts', fields.maxAttempts, readMaxAttempts)
  const delay = readOnce('svc-aig-retry-delay', fields.retryDelay, readDelay)
  const backoff = readOnce('svc-aig-backoff', fields.backoff, readBackoff)
  for (const reading of [timeout, maxAttempts, delay, backoff])
    if (typeof reading === 'object' && reading !== null) return reading
  return { timeout, maxAttempts, delay, backoff } as Controls
}

const noControls: Controls = { timeout: null, maxAttempts: null, delay: null, backoff: null }

type Route = RouteNode | null | 'store_unreachable'

/**
 * Null for a call that may not take more than one attempt. A dynamic route of the gateway comes before an
 * alias as dynamic/NAME; the bare name is that of an alias alone.
 */
export function routeOf(x: Exchange, ai: AiExchange, { model }: CallRequest): MaybeAtOnce<Route> {
  const route = x.plane.ai!.routes.find(ai.gateway!, model)
  return route instanceof Promise
    ? route.then(route => choose(x, ai, model, route))
    : choose(x, ai, model, route)
}

function choose(x: Exchange, ai: AiExchange, model: string, dynamic: Route): Route {
  if (dynamic === 'store_unreachable') return dynamic
  const route = dynamic ?? x.snapshot.ai!.aliases.find(model)
  ai.isRouted = route !== null
  ai.isAllowedByName = route !== null && allowsName(ai, model)
  return route ?? (hasCourseAlone(ai) ? modelAlone(model, ai) : null)
}

/** Whether the caller or the gateway of a call without a route sets something about attempts. */
function hasCourseAlone({ fields, gateway }: AiExchange): boolean {
  return fields.hasControls || (gateway!.retry?.maxAttempts ?? 1) > 1
}

/** Refuses the call if no model can take it. */
export function beginCourse(
  x: Exchange,
  ai: AiExchange,
  target: ParsedTarget,
  callRequest: CallRequest,
  route: RouteNode,
): Verdict {
  const choice = findModel(x, ai, { target, callRequest, from: route, passed: null, mayWait: true })
  return choice instanceof Promise
    ? choice.then(choice => beginAt(x, ai, target, callRequest, choice))
    : beginAt(x, ai, target, callRequest, choice)
}

function beginAt(
  x: Exchange,
  ai: AiExchange,
  target: ParsedTarget,
  callRequest: CallRequest,
  choice: ModelChoice | Refusal,
): Refusal | null {
  if ('error' in choice) return choice
  ai.course = courseOf(x, ai, choice.node, callRequest.body)
  ai.course.begin(choice.skipped, choice.passed)
  return takeCall(x, ai, target, choice.call)
}

/** Allows a native call the attempts for which its caller or its gateway asks. */
export function beginNativeCourse(x: Exchange, ai: AiExchange): void {
  if (!hasCourseAlone(ai) || x.upgrade === 'requested') return
  ai.course = courseOf(x, ai, modelAlone('', ai), null)
}

/** What the caller says comes before the route, and that before the gateway. */
function courseOf(x: Exchange, ai: AiExchange, node: ModelNode, body: Buffer | null): Course {
  const { timeout, maxAttempts, delay, backoff } = ai.controls!
  const retry = ai.gateway!.retry ?? null
  const controls = {
    timeout,
    maxAttempts: ai.isRouted ? maxAttempts : attemptsAlone(ai),
    delay: delay ?? retry?.delay ?? null,
    backoff: backoff ?? retry?.backoff ?? null,
  }
  return new Course(node, { body, controls, failover: x.snapshot.ai!.failover, now: x.startedAt })
}

function modelAlone(model: string, ai: AiExchange): ModelNode {
  return { type: 'model', model, timeout: null, retries: (attemptsAlone(ai) ?? 1) - 1, fallback: null }
}

/** Returns the attempts at a model without a route; null if neither caller nor gateway sets any. */
function attemptsAlone({ controls, gateway }: AiExchange): number | null {
  return controls!.maxAttempts ?? gateway!.retry?.maxAttempts ?? null
}

export interface ModelChoice {
  readonly node: ModelNode
  /** The rates by cost on the way to it. */
  readonly passed: PassedRate | null
  readonly call: AllowedCall
  readonly skipped: number
  readonly isResting: boolean
}

interface Search {
  readonly target: ParsedTarget
  readonly callRequest: CallRequest
  readonly from: RouteNode
  /** The rates by cost that the call has passed by then. */
  readonly passed: PassedRate | null
  /** Whether the call may wait for the store to count it. */
  readonly mayWait: boolean
}

/**
 * Finds the first model from a node on that can take the call, or one whose keys all rest; else returns the
 * first refusal.
 */
export function findModel(
  x: Exchange,
  ai: AiExchange,
  { target, callRequest, from, passed, mayWait }: Search,
): MaybeAtOnce<ModelChoice | Refusal> {
  const journey = new CallJourney(x, ai, { mayWait, passed })
  let refusal: Refusal | null = null
  let resting: ModelChoice | null = null
  let fault: Refusal | null = null
  let skipped = 0
  return search(modelAt(from, journey))

  function search(first: MaybeAtOnce<ModelNode | null>): MaybeAtOnce<ModelChoice | Refusal> {
    let node = first
    while (!(node instanceof Promise)) {
      if (node === null) return resting ?? refusal ?? journey.refusal!
      const call = planModel(x, ai, target, { ...callRequest, model: node.model })
      if ('error' in call) refusal ??= call
      else if ((fault = refuseRouted(x, ai, call)) !== null) refusal ??= fault
      else if (isResting(x, ai, call))
        resting ??= { node, passed: journey.passed, call, skipped, isResting: true }
      else return { node, passed: journey.passed, call, skipped, isResting: false }
      skipped++
      node = modelAt(node.fallback, journey)
    }
    return node.then(search)
  }
}

/** Callers bring no keys for a model that a route chose. */
function refuseRouted(x: Exchange, ai: AiExchange, { provider }: AllowedCall): Refusal | null {
  if (!ai.isRouted) return null
  const own = ownKeysFor(x, ai, provider)
  if (own !== null) return 'error' in own ? own : null
  return ai.gateway!.byokOnly === true ? refuseCall('no_own_key', provider.name) : provider.withoutKey
}

function isResting(x: Exchange, ai: AiExchange, { provider }: AllowedCall): boolean {
  const own = ownKeysFor(x, ai, provider)
  const keys = own !== null && 'ring' in own ? own.ring : x.snapshot.ai!.routeTo(provider).keys
  return keys.size > 1 && keys.firstBack(x.plane.clock.monotonic()) !== null
}
