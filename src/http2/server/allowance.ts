// What a client may cost a session: frames that carry nothing, and time for what it has begun.

import type { Budgets } from './budget.ts'
import { type ErrorCode, errorCode } from '../frames/frames.ts'
import type { SessionFault } from './session-user.ts'

/** What a response earns of a reset, and a request or a DATA frame of frames that carry nothing. */
const resetsPerResponse = 0.25
const controlFramesPerFrame = 4
const settingsTimeout = 30_000

interface Failing {
  fail(fault: SessionFault, code: ErrorCode, detail: string): false
}

export class Allowance {
  readonly budgets: Budgets
  now: number
  readonly #session: Failing
  /** The second is that of a header block, or of the start of the connection. */
  #settingsDeadline: number
  #headDeadline: number

  /** `headTimeout`: ms for the start of the connection. */
  constructor(session: Failing, budgets: Budgets, now: number, headTimeout: number) {
    this.#session = session
    this.budgets = budgets
    this.now = now
    this.#settingsDeadline = now + settingsTimeout
    this.#headDeadline = now + headTimeout
  }

  headBegun(timeout: number): void {
    this.#headDeadline = this.now + timeout
  }

  headWhole(): void {
    this.#headDeadline = Number.POSITIVE_INFINITY
  }

  settingsAcknowledged(): void {
    this.#settingsDeadline = Number.POSITIVE_INFINITY
  }

  /** Returns false if the budget of resets is used up, and the session failed. */
  spendReset(): boolean {
    if (this.budgets.resets.spend(this.now)) return true
    return this.#session.fail('resets', errorCode.enhanceYourCalm, 'too many requests were reset')
  }

  /** Returns false if the budget of frames that carry nothing is used up, and the session failed. */
  spendControl(): boolean {
    if (this.budgets.controlFrames.spend(this.now)) return true
    const detail = 'too many frames that carry nothing'
    return this.#session.fail('control_frames', errorCode.enhanceYourCalm, detail)
  }

  earnByResponse(): void {
    this.budgets.resets.earn(resetsPerResponse)
  }

  earnByFrame(): void {
    this.budgets.controlFrames.earn(controlFramesPerFrame)
  }

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
