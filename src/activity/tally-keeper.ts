// Writes the counts of all processes of a gateway to the store, about once a second. While the store is
// unreachable they are queued.

import type { Logger } from '../log/log.ts'
import { type Store, StoreUnreachable } from '../store/contract/store.ts'
import { lastOf, type Tally } from '../store/records/tally.ts'

/** Time from the first tally to the write of all, in ms. */
const period = 1_000
/** The maximum number of queued tallies; more are dropped. */
const maxQueued = 20_000

interface TallyKeeperOptions {
  readonly store: Pick<Store, 'tallies'>
  readonly log: Logger
}

export class TallyKeeper {
  readonly #store: TallyKeeperOptions['store']
  readonly #log: Logger
  #waiting = new Map<string, Tally>()
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> | null = null
  #isFailing = false
  #isClosed = false

  constructor({ store, log }: TallyKeeperOptions) {
    this.#store = store
    this.#log = log
  }

  add(tallies: readonly Tally[]): void {
    for (const tally of tallies) this.#join(tally)
    this.#writeSoon()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#writing
    await this.#write()
  }

  #join(tally: Tally): void {
    const key = JSON.stringify([tally.kind, tally.scope, tally.name, tally.slot])
    const existing = this.#waiting.get(key)
    if (existing === undefined && this.#waiting.size >= maxQueued) return
    this.#waiting.set(key, existing === undefined ? tally : joined(existing, tally))
  }

  #writeSoon(): void {
    if (this.#isClosed || this.#waiting.size === 0) return
    this.#timer ??= setTimeout(() => {
      this.#writing = this.#write().then(() => {
        this.#timer = null
        this.#writeSoon()
      })
    }, period).unref()
  }

  async #write(): Promise<void> {
    const tallies = [...this.#waiting.values()]
    if (tallies.length === 0) return
    this.#waiting = new Map()
    try {
      await this.#store.tallies.add(tallies)
      if (this.#isFailing) this.#log.info('counts of errors and rules written to the store again')
      this.#isFailing = false
    } catch (failure) {
      this.#fail(failure, tallies)
    }
  }

  /** Queues again what was certainly not written: undercounting is better than counting twice. */
  #fail(failure: unknown, tallies: readonly Tally[]): void {
    if (failure instanceof StoreUnreachable && failure.isUndone)
      for (const tally of tallies) this.#join(tally)
    if (this.#isFailing) return
    this.#isFailing = true
    if (failure instanceof StoreUnreachable)
      this.#log.warn({ reason: failure.reason }, `counts of errors and rules not written: ${failure.state}`)
    else this.#log.error({ err: failure }, 'writing counts of errors and rules failed')
  }
}

function joined(one: Tally, other: Tally): Tally {
  return {
    ...one,
    count: one.count + other.count,
    last: Math.max(one.last, other.last),
    occurrences: lastOf(one.occurrences, other.occurrences),
  }
}
