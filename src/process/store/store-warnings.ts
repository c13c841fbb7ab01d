// Logs the begin and end of problems of a reachable store.

import type { Logger } from '../../log/log.ts'
import type { DegradedReason } from '../../metrics/counters/counts.ts'
import type { Store } from '../../store/contract/store.ts'

const lossPeriod = 5

type Watched = Pick<
  Store,
  'location' | 'isUnreachable' | 'refusal' | 'deafness' | 'durability' | 'degradation'
>

export class StoreWarnings {
  readonly #store: Watched
  readonly #log: Logger
  #refusal: string | null = null
  #deafness: string | null = null
  /** A lost connection is usually back at the next check. */
  #wasDeaf = false
  #losses: readonly string[] = []
  #looks = 0
  #degradation: readonly DegradedReason[] = []

  constructor(store: Watched, log: Logger) {
    this.#store = store
    this.#log = log
    this.#logDegradation()
    store.degradation.follow(() => this.#logDegradation())
  }

  async look(): Promise<void> {
    if (this.#store.isUnreachable) return
    this.#logRefusal()
    this.#logDeafness()
    if (this.#looks++ % lossPeriod === 0) await this.#logLosses()
  }

  get #details() {
    return { store: this.#store.location }
  }

  #logDegradation(): void {
    const { reasons } = this.#store.degradation
    for (const { code, message, remedy } of reasons)
      if (!this.#degradation.some(before => before.message === message))
        this.#log.error({ ...this.#details, code, reason: message, next: remedy }, 'store not trusted')
    for (const { code } of this.#degradation)
      if (!reasons.some(reason => reason.code === code))
        this.#log.info({ ...this.#details, code }, 'store trusted again')
    this.#degradation = reasons
  }

  #logRefusal(): void {
    const { refusal } = this.#store
    if (refusal === this.#refusal) return
    this.#refusal = refusal
    if (refusal === null) this.#log.info(this.#details, 'store confirms writes again')
    else this.#log.warn({ ...this.#details, reason: refusal }, 'store does not confirm writes')
  }

  #logDeafness(): void {
    const { deafness } = this.#store
    const isDeaf = deafness !== null && this.#wasDeaf
    this.#wasDeaf = deafness !== null
    if (isDeaf && deafness !== this.#deafness) {
      this.#deafness = deafness
      this.#log.warn(
        { ...this.#details, reason: deafness },
        'change notifications unavailable, changes by other processes take up to a second to apply',
      )
    }
    if (deafness !== null || this.#deafness === null) return
    this.#deafness = null
    this.#log.info(this.#details, 'change notifications available again')
  }

  async #logLosses(): Promise<void> {
    const losses = await this.#store.durability().catch(() => null)
    if (losses === null) {
      this.#looks = 0
      return
    }
    for (const loss of losses) if (!this.#losses.includes(loss)) this.#log.warn(this.#details, loss)
    const over = this.#losses.filter(loss => !losses.includes(loss))
    if (over.length > 0) this.#log.info({ ...this.#details, over }, 'store durability improved')
    this.#losses = losses
  }
}
