// Decides and prepares what follows a failed attempt of an AI call.

import { afterFailure, type FailedAttempt } from '../../ai/failover/after-failure.ts'
import { readCall } from '../../ai/plan.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Course } from '../ai-call/course.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { type ModelChoice, findModel } from './begin-course.ts'
import { type ParsedTarget, takeCall } from './take-call.ts'

/** The delay is in ms. */
export type PreparedAttempt =
  | { readonly type: 'retry'; readonly delay: number }
  | { readonly type: 'next'; readonly choice: ModelChoice }

/** Null if the failure is final. `duration` and `wait`, for which the provider asked, are in ms. */
export function prepareAttempt(
  x: Exchange,
  ai: AiExchange,
  course: Course,
  { attempts, duration, wait }: Pick<FailedAttempt, 'attempts' | 'duration' | 'wait'>,
): PreparedAttempt | null {
  const failed: FailedAttempt = {
    attempts,
    maxAttempts: course.maxAttempts,
    retries: course.retries,
    hasNext: hasFallback(ai, course),
    duration,
    retryWithin: course.retryWithin,
    timeLeft: course.deadline - x.plane.clock.monotonic(),
    wait,
    delay: course.delay,
  }
  let next = afterFailure(failed)
  if (next.type === 'retry' && !spendRetry(x)) next = afterFailure({ ...failed, retries: 0 })
  if (next.type !== 'next') return next.type === 'retry' ? next : null
  const choice = findFallback(x, ai, course)
  return choice === null ? null : { type: 'next', choice }
}

export function takeAttempt(x: Exchange, ai: AiExchange, course: Course, prepared: PreparedAttempt): void {
  if (prepared.type === 'retry') return course.retry()
  const { node, passed, skipped, call } = prepared.choice
  course.goTo(node, skipped, passed)
  takeCall(x, ai, ai.target as ParsedTarget, call)
}

/** Returns the next model of the route that can take the call at once; null if there is none. */
export function findFallback(x: Exchange, ai: AiExchange, course: Course): ModelChoice | null {
  if (!hasFallback(ai, course)) return null
  const target = ai.target as ParsedTarget
  const callRequest = readCall(target, course.body!, ai.fields.contentType)
  if ('error' in callRequest) return null
  const choice = findModel(x, ai, {
    target,
    callRequest,
    from: course.fallback!,
    passed: course.passed,
    mayWait: false,
  })
  return choice instanceof Promise || 'error' in choice || choice.isResting ? null : choice
}

function hasFallback({ target }: AiExchange, { fallback }: Course): boolean {
  return fallback !== null && target.api !== 'native'
}

function spendRetry(x: Exchange): boolean {
  if (x.route!.pool.budget.spend()) return true
  x.plane.metrics.retryBudgetExhausted.inc()
  return false
}
