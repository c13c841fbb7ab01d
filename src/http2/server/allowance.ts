// What a client may cost a session of HTTP/2: how much that means nothing, and how much time for what it has begun.

import type { Budgets } from './budget.ts'
import { type ErrorCode, errorCode } from '../frames/frames.ts'
import type { SessionFault } from './session-user.ts'

/** The share of a reset that a response is good for, and the frames that carry nothing which a request is good for, or a frame of data. */
const resetsPerResponse = 0.25
const controlFramesPerFrame = 4
/** Ms that a client may take to acknowledge our settings. */
const settingsTimeout = 30_000

/** What has the session fail for a client that costs too much. */
interface Failing {
  fail(fault: SessionFault, code: ErrorCode, detail: string): false
}

export class Allowance {
  /** What the client may still make the session do for nothing. */
  readonly budgets: Budgets
  /** Monotonic ms, as of the last time that something came or was due. */
  now: number
  readonly #session: Failing
  /** When our settings must be acknowledged, and a header block or the beginning be complete. */
  #settingsDeadline: number
  #headDeadline: number

  /** Begins at monotonic ms `now`, with so many ms for what a client begins with. */
  constructor(session: Failing, budgets: Budgets, now: number, headTimeout: number) {
    this.#session = session
    this.budgets = budgets
    this.now = now
    this.#settingsDeadline = now + settingsTimeout
    this.#headDeadline = now + headTimeout
  }

  /** Counts the time for a header block from now on, which is so many ms. */
  headBegun(timeout: number): void {
    this.#headDeadline = this.now + timeout
  }

  headWhole(): void {
    this.#headDeadline = Number.POSITIVE_INFINITY
  }

  settingsAcknowledged(): void {
    this.#settingsDeadline = Number.POSITIVE_INFINITY
  }

  /** Takes one from the budget of resets; false where the session has failed for it. */
  spendReset(): boolean {
    if (this.budgets.resets.spend(this.now)) return true
    return this.#session.fail('resets', errorCode.enhanceYourCalm, 'too many requests were reset')
  }

  /** Takes one from the budget of frames that carry nothing; false where the session has failed for it. */
  spendControl(): boolean {
    if (this.budgets.controlFrames.spend(this.now)) return true
    const detail = 'too many frames that carry nothing'
    return this.#session.fail('control_frames', errorCode.enhanceYourCalm, detail)
  }

  /** Puts back what a response is good for. */
  earnByResponse(): void {
    this.budgets.resets.earn(resetsPerResponse)
  }

  /** Puts back what a request is good for, or a frame of data. */
  earnByFrame(): void {
    this.budgets.controlFrames.earn(controlFramesPerFrame)
  }

  /** Whether the client was in time with all that is due; the session has failed where it was not. */
  isInTime(): boolean {
    if (this.now >= this.#settingsDeadline)
      return this.#session.fail(
        'settings_timeout',
        errorCode.settingsTimeout,
        'SETTINGS were not acknowledged',
      )
    if (this.now < this.#headDeadline) return true
    return this.#session.fail('slow_head', errorCode.enhanceYourCalm, 'a header block took too long')
  }
}
