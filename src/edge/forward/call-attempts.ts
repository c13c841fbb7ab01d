// The attempts at one AI call, and which one comes next.

import { originFailure } from '../../errors/catalogue/origin-failure.ts'
import { type PreparedAttempt, prepareAttempt } from '../ai/next-attempt.ts'
import { waitOf } from '../ai/provider-keys.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { withoutRetry } from '../ai-call/response-fields.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { type AttemptEvent, type ForwardState, isFailedCall, type Verdict } from './decide.ts'

/** An attempt that its provider has not seen is repeated. */
const repetitions: ReadonlySet<Verdict> = new Set([
  'look_up_again',
  'retry_fresh',
  'retry_refused',
  'retry_elsewhere',
])

export class CallAttempts {
  /** Monotonic ms. */
  contentDeadline = Number.POSITIVE_INFINITY
  readonly #x: Exchange
  readonly #ai: AiExchange
  #beganAt = 0
  /** What another attempt may follow, and that attempt; undefined before that is decided. */
  #event: AttemptEvent | null = null
  /** Whether the attempt is in the ledger already. */
  #isNoted = false
  #prepared: PreparedAttempt | null | undefined = undefined

  constructor(x: Exchange, ai: AiExchange) {
    this.#x = x
    this.#ai = ai
  }

  begin(): void {
    this.#beganAt = this.#x.plane.clock.monotonic()
    this.#ai.mayHaveWorkedBefore ||= this.#ai.mayHaveWorked
    this.#ai.mayHaveWorked = false
    const { course } = this.#ai
    if (course === null) return
    const timeout = course.timeout ?? this.#x.route!.config.timeouts.response
    this.contentDeadline =
      timeout === 0 ? course.deadline : Math.min(this.#beganAt + timeout, course.deadline)
  }

  /** Ends the time until the content: a body that is held to its end has begun. */
  contentBegan(): void {
    this.contentDeadline = Number.POSITIVE_INFINITY
  }

  reported(event: AttemptEvent, stage: ForwardState['stage']): void {
    this.#event = event
    if (showsNoWork(event)) this.#ai.mayHaveWorked = false
    this.#isNoted = stage === 'relaying'
    this.#prepared = undefined
  }

  get next(): PreparedAttempt | null {
    if (this.#prepared === undefined) {
      const event = this.#event!
      const wait = 'head' in event ? waitOf(this.#x, event.head) : null
      const attempts = this.#ai.attempts.length - this.#ai.uncounted + (this.#isNoted ? 0 : 1)
      const duration = this.#x.plane.clock.monotonic() - this.#beganAt
      const failed = { attempts, duration, wait }
      this.#prepared = prepareAttempt(this.#x, this.#ai, this.#ai.course!, failed)
    }
    return this.#prepared
  }

  /** Skips attempts that are repeated as if nothing had happened. */
  note(state: ForwardState, verdict: Verdict, event: AttemptEvent): void {
    if (event.type === 'refusal' || repetitions.has(verdict)) return
    // A response that was under way has failed.
    if (state.stage === 'relaying') return this.#amend(outcomeOf(event))
    this.#add(outcomeOf(event), verdict === 'relay' ? this.#x.respondedAt : undefined)
    const { attempts, course } = this.#ai
    if (event.type === 'usage_refused') this.#ai.uncounted++
    if (verdict === 'next_attempt' || course === null || attempts.length < 2) return
    this.#ai.isExhausted = isFailedCall(state, event, verdict)
    if (this.#ai.isExhausted) this.#x.responseChanges = withoutRetry(this.#x.responseChanges)
  }

  noteLeft(stage: ForwardState['stage']): void {
    if (stage === 'relaying') this.#amend('client_left')
    else this.#add('client_left')
  }

  #add(outcome: string, endedAt = this.#x.plane.clock.monotonic()): void {
    const { attempts, provider, model } = this.#ai
    const attempt = { provider: provider!.name, model, outcome, duration: endedAt - this.#beganAt }
    this.#ai.attempts = attempts.length === 0 ? [attempt] : [...attempts, attempt]
    this.#x.trace?.recording?.callAttemptTimes.push(endedAt)
  }

  #amend(outcome: string): void {
    const { attempts } = this.#ai
    this.#ai.attempts = [...attempts.slice(0, -1), { ...attempts.at(-1)!, outcome }]
  }
}

/** Whether the provider surely did nothing that it charges for. */
function showsNoWork(event: AttemptEvent): boolean {
  switch (event.type) {
    case 'response':
    case 'usage_refused':
      return event.head.status > 299
    case 'failed_start':
      return event.isError
    case 'failure':
      return event.failure.row.isUnprocessed
    default:
      return false
  }
}

function outcomeOf(event: Exclude<AttemptEvent, { type: 'refusal' }>): string {
  switch (event.type) {
    case 'response':
    case 'usage_refused':
      return event.head.status < 400 ? 'ok' : `http_${event.head.status}`
    case 'failed_start':
      return 'stream_error'
    default:
      return originFailure(event.phase, event.failure)
  }
}
