// A circuit breaker: after several failures in a row, an origin gets no requests for a while, longer each
// time, and is then readmitted by a single trial request.

import type { EjectionConfig } from '../config/model/pool-config.ts'

type CircuitState = 'closed' | 'open' | 'half_open'

/** All times are monotonic ms. */
export class Circuit {
  /** In a row, since the last success. */
  failures = 0
  /** Until when only a trial may pass; 0 while closed. */
  openUntil = 0
  readonly #config: EjectionConfig
  /** The request that is the trial. */
  #trial: object | null = null
  /** Until when the trial is the only one: a slow trial must not keep everybody waiting. */
  #trialUntil = 0
  /** How long it was last open; 0 once that is forgotten. */
  #lasted = 0
  #closedAt = 0

  constructor(config: EjectionConfig) {
    this.#config = config
  }

  get isClosed(): boolean {
    return this.openUntil === 0
  }

  stateAt(now: number): CircuitState {
    if (this.isClosed) return 'closed'
    return now < this.openUntil ? 'open' : 'half_open'
  }

  /**
   * Whether a request may pass: while half open one at a time, or another once the trial takes longer than
   * the shortest ejection.
   */
  admits(now: number): boolean {
    return now >= this.openUntil && (this.#trial === null || now >= this.#trialUntil)
  }

  /** Registers a request that is about to be sent; false if it may not be. */
  enter(request: object, now: number): boolean {
    if (this.isClosed) return true
    if (!this.admits(now)) return false
    this.#trial = request
    this.#trialUntil = now + this.#config.base
    return true
  }

  /** Records a response; true if it closes the circuit. */
  responded(request: object, now: number): boolean {
    if (this.#trial !== request) return false
    this.#close(now)
    return true
  }

  /** Records a failure; true if it opens the circuit. Requests from before the circuit opened are ignored. */
  failed(request: object, now: number): boolean {
    this.failures++
    if (this.isClosed ? this.failures < this.#config.failures : this.#trial !== request) return false
    this.#open(now)
    return true
  }

  /** Records a request that ended without saying anything about the origin: another one may be the trial. */
  released(request: object): void {
    if (this.#trial === request) this.#trial = null
  }

  #close(now: number): void {
    this.openUntil = 0
    this.failures = 0
    this.#trial = null
    this.#closedAt = now
  }

  /** Opens for twice as long as last time, unless closed for the maximum duration since. */
  #open(now: number): void {
    const { base, longest } = this.#config
    const isForgotten = this.isClosed && now - this.#closedAt >= longest
    this.#lasted =
      this.#lasted === 0 || isForgotten ? Math.min(base, longest) : Math.min(this.#lasted * 2, longest)
    this.openUntil = now + this.#lasted
    this.#trial = null
  }
}
