// The health of one origin: by its requests (its circuit), by active checks, and during its return (slow
// start).

import type { Clock } from '../base/clock.ts'
import type { PoolConfig } from '../config/model/config.ts'
import { usualEjection } from '../config/model/pool-config.ts'
import type { PoolMember } from '../metrics/counters/edge-metrics.ts'
import { Circuit } from './circuit.ts'

export type HealthSettings = Pick<PoolConfig, 'ejection' | 'check' | 'slowStart'>

/** The result of active checks of an origin. Times are ms since the epoch. */
export interface CheckResult {
  readonly isUp: boolean
  readonly since: number
  readonly nextCheckAt: number
  /** When the last check began. */
  readonly lastCheckAt: number
  /** How long the last check took, in ms. */
  readonly lastDuration: number
  readonly lastStatus: number | null
  readonly lastError: string | null
}

/**
 * `unchecked` until a check or a request has shown its state; `failing` after failures in a row, although it
 * still gets requests; `down` by active checks; `ejected` for its failures; in `trial` when one request may
 * end that.
 */
export type HealthState = PoolMember['state']

/** The share of its weight with which an origin returns in a slow start. */
const firstShare = 0.1

export class MemberHealth {
  check: CheckResult | null = null
  ejections = 0
  readonly #circuit: Circuit | null
  readonly #slowStart: number
  readonly #clock: Clock
  readonly #ejected: () => void
  /** When it returned, in monotonic ms, during its slow start; -1 otherwise. */
  #backSince = -1
  /** When it was last ejected, and when it last returned or was created; ms since the epoch. */
  #ejectedAt = 0
  #backAt: number
  /** Whether a check or a request has succeeded yet. */
  #isProven = false
  /**
   * How many failures in a row make it `failing`, and how long they are remembered without a request, in ms.
   */
  readonly #maxFailures: number
  readonly #memory: number
  /** In a row, since the last success. */
  #failures = 0
  /** When it became `failing`, in ms since the epoch; 0 while it is not. */
  #failingAt = 0
  /** Monotonic ms. */
  #lastFailedAt = 0
  /** Whether it is fully healthy, so that the slower checks can be skipped. */
  #isFine = true

  /** Never ejects if the settings have no ejection; `ejected` is called at each one. */
  constructor(settings: HealthSettings, clock: Clock, ejected: () => void) {
    this.#circuit = settings.ejection === null ? null : new Circuit(settings.ejection)
    const { failures, longest } = settings.ejection ?? usualEjection
    this.#maxFailures = failures
    this.#memory = longest
    this.#slowStart = settings.slowStart
    this.#clock = clock
    this.#backAt = clock.now()
    this.#ejected = ejected
  }

  /** How much of its weight counts now, from 0 (no requests) to 1. */
  get share(): number {
    return this.#isFine ? 1 : this.#shareAt(this.#clock.monotonic())
  }

  get state(): HealthState {
    if (this.check?.isUp === false) return 'down'
    const now = this.#clock.monotonic()
    const state = this.#circuit?.stateAt(now) ?? 'closed'
    if (state !== 'closed') return state === 'open' ? 'ejected' : 'trial'
    if (this.#failingAt === 0) return this.#isProven ? 'healthy' : 'unchecked'
    if (now - this.#lastFailedAt < this.#memory) return 'failing'
    // It has had no request for so long that earlier ones mean nothing any more.
    return this.check === null ? 'unchecked' : 'healthy'
  }

  /** Whether it gets requests as usual. */
  get isServing(): boolean {
    return this.check?.isUp !== false && this.#circuit?.isClosed !== false
  }

  /** When it entered this state, in ms since the epoch. */
  get since(): number {
    if (this.check?.isUp === false) return this.check.since
    switch (this.state) {
      case 'ejected':
        return this.#ejectedAt
      case 'trial':
        return this.ejectedUntil!
      case 'failing':
        return this.#failingAt
      default:
        return this.#failingAt === 0 ? this.#backAt : this.#forgottenAt
    }
  }

  get failures(): number {
    return this.#failures
  }

  /** Ms since the epoch; null while it is not ejected. */
  get ejectedUntil(): number | null {
    if (this.#circuit === null || this.#circuit.isClosed) return null
    return this.#clock.now() + this.#circuit.openUntil - this.#clock.monotonic()
  }

  /** Ms until it may be available again: by the next check while down, otherwise by the trial. */
  get msUntilHope(): number {
    if (this.check?.isUp === false) return this.check.nextCheckAt - this.#clock.now()
    return this.#circuit === null ? 0 : this.#circuit.openUntil - this.#clock.monotonic()
  }

  // The outcome of its requests; each is identified by an object, from `begin` to its end.

  /** Registers a request that is about to be sent; false while another one is the trial. */
  begin(request: object): boolean {
    return this.#isFine || this.#circuit === null || this.#circuit.enter(request, this.#clock.monotonic())
  }

  /** Records the head of a response: the origin is alive. */
  responded(request: object): void {
    if (!this.#isFine && this.#circuit?.responded(request, this.#clock.monotonic())) this.#comeBack()
  }

  succeeded(): void {
    if (this.#failures !== 0 || !this.#isProven) this.#prove()
    if (this.#circuit?.isClosed) this.#circuit.failures = 0
  }

  /** Records a failure that is the origin's fault. */
  failed(request: object): void {
    this.#countFailure()
    if (!this.#circuit?.failed(request, this.#clock.monotonic())) return
    this.#isFine = false
    this.ejections++
    this.#ejectedAt = this.#clock.now()
    this.#ejected()
  }

  /**
   * Records a failure that may be the request's fault: it is visible, but does not count towards an ejection.
   */
  failedUnblamed(request: object): void {
    this.#countFailure()
    this.released(request)
  }

  /** Records a request whose end says nothing about the origin. */
  released(request: object): void {
    if (!this.#isFine) this.#circuit?.released(request)
  }

  /**
   * Records the result of an active check. It ends only states that checks caused, since an origin that
   * passes them may still fail its requests.
   */
  applyCheck(result: CheckResult): void {
    const wasDown = this.check?.isUp === false
    this.check = result
    if (!result.isUp) this.#isFine = false
    else if (wasDown) this.#comeBack()
    else if (!this.#isProven && result.lastError === null) this.#prove()
  }

  #countFailure(): void {
    this.#failures++
    this.#lastFailedAt = this.#clock.monotonic()
    // For an origin that has never succeeded, one failure is enough.
    if (this.#failingAt === 0 && (!this.#isProven || this.#failures >= this.#maxFailures))
      this.#failingAt = this.#clock.now()
  }

  /** While it is ejected, only its trial counts. */
  #prove(): void {
    if (this.#circuit?.isClosed === false) return
    if (this.#failingAt !== 0 || !this.#isProven) this.#backAt = this.#clock.now()
    this.#isProven = true
    this.#failures = 0
    this.#failingAt = 0
  }

  /** When its failures are forgotten, in ms since the epoch. */
  get #forgottenAt(): number {
    return this.#clock.now() + this.#lastFailedAt + this.#memory - this.#clock.monotonic()
  }

  #shareAt(now: number): number {
    if (this.check?.isUp === false || this.#circuit?.admits(now) === false) return 0
    const share = this.#backSince === -1 ? 1 : (now - this.#backSince) / this.#slowStart
    if (share < 1) return Math.max(share, firstShare)
    this.#isFine = this.#circuit === null || this.#circuit.isClosed
    return 1
  }

  #comeBack(): void {
    const now = this.#clock.monotonic()
    this.#prove()
    this.#backAt = this.#clock.now()
    this.#backSince = this.#slowStart === 0 ? -1 : now
    // `share` checks whether anything else is wrong.
    this.#isFine = false
  }
}
