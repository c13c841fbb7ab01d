// The latest calls to one provider. A caller's own credential reveals nothing about the configured keys.

import type { ErrorName } from '../../errors/catalogue/catalogue.ts'

export class ProviderCalls {
  /** Ms since the epoch; 0 before the first call. */
  lastAt = 0
  /** Ms since the epoch; when the status was neither a failure of the provider nor a refusal. */
  goodAt = 0
  /** The last failure, with the status, or the error if no response came. */
  badAt = 0
  badStatus = 0
  badError: ErrorName | null = null
  badCode = ''
  failures = 0

  /** `isOurs`: the call had a configured key, or the provider needs none. */
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
