// What the latest calls to one provider came to, in this process. Calls with a credential of their caller tell nothing of the keys of the configuration.

import type { ErrorName } from '../../errors/catalogue/catalogue.ts'

export class ProviderCalls {
  /** Ms since the epoch of the latest call that had an outcome; 0 before the first. */
  lastAt = 0
  /** When the provider last took a call, in ms since the epoch: with a status that is neither a failure of its own nor a refusal. */
  goodAt = 0
  /** When one failed last, with the status, or the error where no response came. */
  badAt = 0
  badStatus = 0
  badError: ErrorName | null = null
  /** The code of the system, TLS or DNS for that error; empty for none. */
  badCode = ''
  /** How many have failed since the provider took one. */
  failures = 0

  /** Notes the status of a response; `isOurs` says whether the call had a key of the configuration, or the provider needs none. */
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

  /** Notes that no response came. */
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
