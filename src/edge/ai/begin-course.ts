// Begins the course of an AI call that may take more than one attempt: the models of an alias, or one model to
// which its caller or its gateway allows several.

import {
  type Controls,
  readBackoff,
  readDelay,
  readMaxAttempts,
  readTimeout,
} from '../../ai/failover/controls.ts'
import type { ModelNode, RouteNode } from '../../ai/failover/model-route.ts'
import type { Reading } from '../../base/text/quantity.ts'
import type { Call } from '../../ai/plan.ts'
import type { CallRequest } from '../../ai/request-body.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { type Once, repeated } from '../ai-call/ai-fields.ts'
import { Course, modelsFrom } from '../ai-call/course.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { type ParsedTarget, planModel, takeCall } from './take-call.ts'

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

function readOnce<T extends string | number>(
  name: string,
  value: Once,
  read: (text: string) => Reading<T>,
): T | null | Refusal {
  if (value === null) return null
  if (value === repeated) return refuseCall('invalid', name, 'must be given once')
  const reading = read(value)
  return 'flaw' in reading ? refuseCall('invalid', name, reading.flaw) : reading.value
}

/** Null for a call that may not take more than one attempt. */
export function routeOf(x: Exchange, ai: AiExchange, { model }: CallRequest): RouteNode | null {
  const route = x.snapshot.ai!.aliases.find(model)
  ai.isRouted = route !== null
  return route ?? (ai.fields.hasControls ? modelAlone(model, ai.controls!) : null)
}

/** Refuses the call if no model can take it. */
export function beginCourse(
  x: Exchange,
  ai: AiExchange,
  target: ParsedTarget,
  asked: CallRequest,
  route: RouteNode,
): Refusal | null {
  const found = findModel(x, ai, target, asked, route)
  if ('error' in found) return found
  const { failover } = x.snapshot.ai!
  ai.course = new Course(found.node, {
    body: asked.bytes,
    controls: ai.controls!,
    failover,
    now: x.startedAt,
  })
  ai.course.step = found.skipped
  return takeCall(x, ai, target, found.call)
}

/** Allows a native call the attempts for which its caller asks. */
export function beginNativeCourse(x: Exchange, ai: AiExchange): void {
  if (!ai.fields.hasControls || x.upgrade === 'requested') return
  const { failover } = x.snapshot.ai!
  const controls = ai.controls!
  ai.course = new Course(modelAlone('', controls), { body: null, controls, failover, now: x.startedAt })
}

function modelAlone(model: string, { maxAttempts }: Controls): ModelNode {
  return { type: 'model', model, timeout: null, retries: (maxAttempts ?? 1) - 1, fallback: null }
}

export interface FoundModel {
  readonly node: ModelNode
  readonly call: Call
  readonly skipped: number
  readonly isResting: boolean
}

/**
 * Finds the first model from a node on that can take the call, or one whose keys all rest; else returns the
 * first refusal.
 */
export function findModel(
  x: Exchange,
  ai: AiExchange,
  target: ParsedTarget,
  asked: CallRequest,
  from: RouteNode,
): FoundModel | Refusal {
  let refusal: Refusal | null = null
  let resting: FoundModel | null = null
  let skipped = 0
  for (const node of modelsFrom(from)) {
    const call = planModel(x, ai, target, { ...asked, model: node.model })
    if ('error' in call) refusal ??= call
    else if (ai.isRouted && call.provider.withoutKey !== null) refusal ??= call.provider.withoutKey
    else if (isResting(x, call)) resting ??= { node, call, skipped, isResting: true }
    else return { node, call, skipped, isResting: false }
    skipped++
  }
  return resting ?? refusal!
}

function isResting(x: Exchange, { provider }: Call): boolean {
  const { keys } = x.snapshot.ai!.routeTo(provider)
  return keys.size > 1 && keys.firstBack(x.plane.clock.monotonic()) !== null
}
