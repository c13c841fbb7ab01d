// How one origin is doing: what its requests tell (its circuit), what the active checks tell, and how it comes back (slow start).

import type { Clock } from '../base/clock.ts'
import type { PoolConfig } from '../config/model/config.ts'
import { usualEjection } from '../config/model/pool-config.ts'
import type { PoolMember } from '../metrics/counters/edge-metrics.ts'
import { Circuit } from './circuit.ts'

export type HealthSettings = Pick<PoolConfig, 'ejection' | 'check' | 'slowStart'>

/** What is known of an origin by active checks. Times are ms since the epoch. */
export interface CheckResult {
  readonly isUp: boolean
  /** Since when it is up or down. */
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
 * `unchecked` while neither a check nor a request has told how it is; `failing` after failures in a row, although requests still go to it; `down` by active checks;
 * `ejected` for its failures; in `trial` when one request may end that.
 */
export type HealthState = PoolMember['state']

/** The share of its weight with which an origin begins that comes back slowly. */
const firstShare = 0.1

export class MemberHealth {
  check: CheckResult | null = null
  /** How often it was ejected. */
  ejections = 0
  readonly #circuit: Circuit | null
  readonly #slowStart: number
  readonly #clock: Clock
  readonly #ejected: () => void
  /** Monotonic ms at which it came back, while it takes up its share again; -1 otherwise. */
  #backSince = -1
  /** When it was ejected last, and when it came back last, or was made; ms since the epoch. */
  #ejectedAt = 0
  #backAt: number
  /** Whether a check or a request has succeeded so far. */
  #isProven = false
  /** How many failures in a row make it `failing`, and for how many ms without a request they are remembered. */
  readonly #mostFailures: number
  readonly #memory: number
  /** In a row, since the last success. */
  #failures = 0
  /** When it began to fail, in ms since the epoch; 0 while it is not failing. */
  #failingAt = 0
  /** Monotonic ms. */
  #lastFailedAt = 0
  /** Whether nothing at all is the matter, so that nobody has to look closer. */
  #isFine = true

  /** Ejects nobody where the settings have no ejection; `ejected` is called at each one. */
  constructor(settings: HealthSettings, clock: Clock, ejected: () => void) {
    this.#circuit = settings.ejection === null ? null : new Circuit(settings.ejection)
    const { failures, longest } = settings.ejection ?? usualEjection
    this.#mostFailures = failures
    this.#memory = longest
    this.#slowStart = settings.slowStart
    this.#clock = clock
    this.#backAt = clock.now()
    this.#ejected = ejected
  }

  /** How much of its weight counts now, from 0 (nothing may go to it) to 1. */
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
    // Nobody has asked it for so long that its requests tell nothing any more.
    return this.check === null ? 'unchecked' : 'healthy'
  }

  /** Whether requests go to it as usual. */
  get isServing(): boolean {
    return this.check?.isUp !== false && this.#circuit?.isClosed !== false
  }

  /** When it came to this state, in ms since the epoch. */
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

  /** Failures in a row. */
  get failures(): number {
    return this.#failures
  }

  /** The end of its ejection in ms since the epoch; null while it is not ejected. */
  get ejectedUntil(): number | null {
    if (this.#circuit === null || this.#circuit.isClosed) return null
    return this.#clock.now() + this.#circuit.openUntil - this.#clock.monotonic()
  }

  /** Ms until something may change that keeps requests away: the next check while it is down, else the trial. */
  get msUntilHope(): number {
    if (this.check?.isUp === false) return this.check.nextCheckAt - this.#clock.now()
    return this.#circuit === null ? 0 : this.#circuit.openUntil - this.#clock.monotonic()
  }

  // How its requests fare; each is known by an object of its own, from `begin` to the last word.

  /** Takes note of a request that goes to it now; false where it better does not, since another one is the trial by now. */
  begin(request: object): boolean {
    return this.#isFine || this.#circuit === null || this.#circuit.enter(request, this.#clock.monotonic())
  }

  /** The head of an answer came: it is alive. */
  answered(request: object): void {
    if (!this.#isFine && this.#circuit?.answered(request, this.#clock.monotonic())) this.#comeBack()
  }

  /** A whole answer came. */
  succeeded(): void {
    if (this.#failures !== 0 || !this.#isProven) this.#prove()
    if (this.#circuit?.isClosed) this.#circuit.failures = 0
  }

  /** It failed a request by its own fault. */
  failed(request: object): void {
    this.#countFailure()
    if (!this.#circuit?.failed(request, this.#clock.monotonic())) return
    this.#isFine = false
    this.ejections++
    this.#ejectedAt = this.#clock.now()
    this.#ejected()
  }

  /** It failed a request that may be to blame itself: that shows, and ejects nobody. */
  failedUnblamed(request: object): void {
    this.#countFailure()
    this.released(request)
  }

  /** A request ended in a way that says nothing of it. */
  released(request: object): void {
    if (!this.#isFine) this.#circuit?.released(request)
  }

  /** Takes what the active checks found; they end only what they began, since who answers them well may still fail its requests. */
  takeCheck(result: CheckResult): void {
    const wasDown = this.check?.isUp === false
    this.check = result
    if (!result.isUp) this.#isFine = false
    else if (wasDown) this.#comeBack()
    else if (!this.#isProven && result.lastError === null) this.#prove()
  }

  #countFailure(): void {
    this.#failures++
    this.#lastFailedAt = this.#clock.monotonic()
    // Of who never did anything but fail, one failure tells enough.
    if (this.#failingAt === 0 && (!this.#isProven || this.#failures >= this.#mostFailures))
      this.#failingAt = this.#clock.now()
  }

  /** Takes note that it works, unless it is ejected: then only its trial tells. */
  #prove(): void {
    if (this.#circuit?.isClosed === false) return
    if (this.#failingAt !== 0 || !this.#isProven) this.#backAt = this.#clock.now()
    this.#isProven = true
    this.#failures = 0
    this.#failingAt = 0
  }

  /** When its failures were too long ago, in ms since the epoch. */
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
    // Whether anything else is the matter is found when its share is asked for.
    this.#isFine = false
  }
}
