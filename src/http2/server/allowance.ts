// What a client may cost a session: how many frames that carry nothing, and how much time for what it has
// begun.

import type { Budgets } from './budget.ts'
import { type ErrorCode, errorCode } from '../frames/frames.ts'
import type { SessionFault } from './session-user.ts'

/**
 * The share of a reset that a response makes up for, and how many frames that carry nothing a request or a
 * DATA frame makes up for.
 */
const resetsPerResponse = 0.25
const controlFramesPerFrame = 4
/** Ms that a client may take to acknowledge our settings. */
const settingsTimeout = 30_000

/** Ends the session of a client that costs too much. */
interface Failing {
  fail(fault: SessionFault, code: ErrorCode, detail: string): false
}

export class Allowance {
  /** What the client may still make the session do for nothing. */
  readonly budgets: Budgets
  /** Monotonic ms, as of the last received bytes or sweep. */
  now: number
  readonly #session: Failing
  /**
   * When our settings must be acknowledged, and when a header block, or the start of the connection, must be
   * complete.
   */
  #settingsDeadline: number
  #headDeadline: number

  /** Begins at monotonic ms `now`, with `headTimeout` ms for the start of the connection. */
  constructor(session: Failing, budgets: Budgets, now: number, headTimeout: number) {
    this.#session = session
    this.budgets = budgets
    this.now = now
    this.#settingsDeadline = now + settingsTimeout
    this.#headDeadline = now + headTimeout
  }

  /** Starts the timeout of a header block, in ms. */
  headBegun(timeout: number): void {
    this.#headDeadline = this.now + timeout
  }

  headWhole(): void {
    this.#headDeadline = Number.POSITIVE_INFINITY
  }

  settingsAcknowledged(): void {
    this.#settingsDeadline = Number.POSITIVE_INFINITY
  }

  /** Takes one from the budget of resets; returns false if that was too many, and the session failed. */
  spendReset(): boolean {
    if (this.budgets.resets.spend(this.now)) return true
    return this.#session.fail('resets', errorCode.enhanceYourCalm, 'too many requests were reset')
  }

  /**
   * Takes one from the budget of frames that carry nothing; returns false if that was too many, and the
   * session failed.
   */
  spendControl(): boolean {
    if (this.budgets.controlFrames.spend(this.now)) return true
    const detail = 'too many frames that carry nothing'
    return this.#session.fail('control_frames', errorCode.enhanceYourCalm, detail)
  }

  /** Puts back what a response makes up for. */
  earnByResponse(): void {
    this.budgets.resets.earn(resetsPerResponse)
  }

  /** Puts back what a request or a DATA frame makes up for. */
  earnByFrame(): void {
    this.budgets.controlFrames.earn(controlFramesPerFrame)
  }

  /** Whether the client has met all deadlines; otherwise the session fails. */
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
