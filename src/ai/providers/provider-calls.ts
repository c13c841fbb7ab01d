// The results of the latest calls to one provider, in this process. Calls with a caller's own credential
// reveal nothing about the configured keys.

import type { ErrorName } from '../../errors/catalogue/catalogue.ts'

export class ProviderCalls {
  /** Time of the latest call with an outcome, in ms since the epoch; 0 before the first. */
  lastAt = 0
  /**
   * When the provider last accepted a call, in ms since the epoch: with a status that is neither a failure of
   * its own nor a refusal.
   */
  goodAt = 0
  /** Time of the last failure, with the status, or the error if no response came. */
  badAt = 0
  badStatus = 0
  badError: ErrorName | null = null
  /** The code of the system, TLS or DNS for that error; empty for none. */
  badCode = ''
  /** Failures since the provider last accepted a call. */
  failures = 0

  /**
   * Records the status of a response; `isOurs` says whether the call had a configured key, or the provider
   * needs none.
   */
  responded(status: number, now: number, isOurs: boolean): void {
    this.lastAt = now
    const isRefusal = status === 401 || status === 403 || status === 429
    if (isRefusal && !isOurs) return
    if (isRefusal || status >= 500) this.#failed(now, status, null, '')
    else {
      this.goodAt = now
      this.failures = 0
    }
  }

  /** Records a missing response. */
  failed(error: ErrorName, code: string, now: number): void {
    this.lastAt = now
    this.#failed(now, 0, error, code)
  }

  #failed(now: number, status: number, error: ErrorName | null, code: string): void {
    this.badAt = now
    this.badStatus = status
    this.badError = error
    this.badCode = code
    this.failures++
  }
}
