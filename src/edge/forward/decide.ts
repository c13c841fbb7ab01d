// Decides what follows each event of an attempt; nothing is done here.

import type { Failure, Way } from '../../errors/catalogue/origin-failure.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import { continuesHandshake } from '../../http1/fields/connection-authentication.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { Phase } from '../../errors/catalogue/phase.ts'
import type { ResponseBody } from '../origin/response-handler.ts'

export type AttemptEvent =
  | ResponseEvent
  | UsageRefusedEvent
  | FailedStartEvent
  | FailureEvent
  | UnusableEvent
  | RefusalEvent

export interface ResponseEvent {
  readonly type: 'response'
  readonly head: ResponseHead
  readonly body: ResponseBody
  /** The bytes of a body that was held to its end. */
  readonly whole?: Buffer | null
}

/** Only the gateway asked for the usage. */
interface UsageRefusedEvent {
  readonly type: 'usage_refused'
  readonly head: ResponseHead
}

interface FailedStartEvent {
  readonly type: 'failed_start'
  /** Whether the provider said so; else the response ended without content, or is not whole. */
  readonly isError: boolean
  readonly head: ResponseHead
  readonly phase: Phase
  readonly failure: Failure
}

export interface FailureEvent {
  readonly type: 'failure'
  readonly phase: Phase
  readonly failure: Failure
}

interface UnusableEvent {
  readonly type: 'unusable'
  readonly phase: Phase
  readonly failure: Failure
}

interface RefusalEvent {
  readonly type: 'refusal'
  readonly refusal: Refusal
}

export interface ForwardState {
  /** `none` before the first attempt and while the body of a redirect is read. */
  readonly stage: 'none' | 'connecting' | 'awaiting' | 'relaying'
  readonly isIdempotent: boolean
  readonly wantsUpgrade: boolean
  /** Whether the sent request body is still here: all of it, all so far, or neither. */
  readonly sentBody: 'whole' | 'so_far' | 'gone'
  readonly isFresh: boolean
  readonly isReused: boolean
  readonly hasResponseBegun: boolean
  readonly hasRepeatedLookup: boolean
  /** For another origin, if this one refuses the request. */
  readonly isInTime: boolean
  /** False once attempts, members or budget are exhausted. */
  readonly mayRetry: boolean
  readonly retryOn: ReadonlySet<number>
  readonly aboutKey: 'another' | 'given_up' | Refusal | null
  readonly isByHttp2: boolean
  readonly redirect: 'none' | 'follow' | 'too_many'
  /** Null unless it is an AI call with a course. */
  readonly failoverOn: readonly number[] | null
  readonly isUnsent: boolean
  readonly hasNextAttempt: boolean
}

/**
 * `retry` on any connection to the same origin, `retry_fresh` on a new one, `retry_refused` on a new one to
 * any member, `retry_elsewhere` at another member (without one, `mayRetry` becomes false, and the decision is
 * made again), `next_attempt` for the course of a call.
 */
export type Verdict =
  | 'relay'
  | 'redirect'
  | 'require_http1'
  | 'look_up_again'
  | 'retry'
  | 'retry_fresh'
  | 'retry_refused'
  | 'retry_elsewhere'
  | 'next_attempt'
  | 'refuse'

export function decide(state: ForwardState, event: AttemptEvent): Verdict {
  const verdict = withoutCourse(state, event)
  return state.failoverOn !== null && isFailedCall(state, event, verdict) && state.hasNextAttempt
    ? 'next_attempt'
    : verdict
}

/** Nothing was sent to the caller, and nothing that follows on the same connection or key helps. */
export function isFailedCall(state: ForwardState, event: AttemptEvent, verdict: Verdict): boolean {
  if (verdict !== 'relay' && verdict !== 'refuse') return false
  if (state.stage === 'none' || !state.isUnsent || state.sentBody !== 'whole') return false
  switch (event.type) {
    case 'response':
      return state.failoverOn!.includes(event.head.status) || state.aboutKey !== null
    case 'failure':
      return event.failure.way !== 'GH_CALL_TIMEOUT'
    default:
      return event.type !== 'refusal'
  }
}

function withoutCourse(state: ForwardState, event: AttemptEvent): Verdict {
  switch (event.type) {
    case 'response':
      return afterResponse(state, event.head)
    case 'failure':
      return afterFailure(state, event)
    case 'usage_refused':
      return 'retry'
    default:
      return 'refuse'
  }
}

/** Whether a connection ended as idle ones do, or the origin did nothing. */
export function isIdleLoss({ isReused, hasResponseBegun }: ForwardState, { row }: Failure): boolean {
  return row.isLoss && (isReused || row.isUnprocessed) && !hasResponseBegun
}

function afterResponse(state: ForwardState, head: ResponseHead): Verdict {
  if (head.status >= 500)
    return state.retryOn.has(head.status) && mayGoElsewhere(state) ? 'retry_elsewhere' : 'relay'
  if (state.aboutKey === 'given_up') return 'relay'
  if (state.aboutKey !== null) return state.aboutKey === 'another' ? 'retry' : 'refuse'
  // The next message of the handshake must come on the same connection, but streams share one.
  if (head.status === 401 && state.isByHttp2 && head.authenticatesConnection && continuesHandshake(head))
    return 'require_http1'
  if (state.redirect !== 'none') return state.redirect === 'follow' ? 'redirect' : 'refuse'
  return 'relay'
}

function mayGoElsewhere({ mayRetry, sentBody, isIdempotent, wantsUpgrade }: ForwardState): boolean {
  return mayRetry && sentBody === 'whole' && isIdempotent && !wantsUpgrade
}

/** Failures that leave no time for another attempt; a request must not wait in a second queue. */
const final: ReadonlySet<Way> = new Set(['GH_QUEUE_TIMEOUT', 'GH_TOTAL_TIMEOUT', 'GH_CALL_TIMEOUT'])

function afterFailure(state: ForwardState, event: FailureEvent): Verdict {
  const { stage, mayRetry } = state
  const { way, row } = event.failure
  if (final.has(way) || stage === 'none' || stage === 'relaying') return 'refuse'
  if (stage === 'connecting') {
    if (way === 'name_unanswered' && !state.hasRepeatedLookup) return 'look_up_again'
    return mayRetry ? 'retry_elsewhere' : 'refuse'
  }
  if (!mayRepeat(state, event)) return 'refuse'
  if (!isIdleLoss(state, event.failure)) return mayRetry && !state.wantsUpgrade ? 'retry_elsewhere' : 'refuse'
  if (!state.isFresh) return 'retry_fresh'
  return row.isUnprocessed && state.isInTime && mayRetry ? 'retry_refused' : 'refuse'
}

/** The request is idempotent, or the origin surely did nothing with it. */
function mayRepeat(state: ForwardState, { phase, failure: { way, row } }: FailureEvent): boolean {
  if (row.isUnprocessed) return state.sentBody !== 'gone'
  if (state.sentBody !== 'whole') return false
  const isBehindHandshake = phase === 'handshake' && way === 'handshake_refused' && !state.isReused
  return isBehindHandshake || (state.isIdempotent && !state.hasResponseBegun)
}
