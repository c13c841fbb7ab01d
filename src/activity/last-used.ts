// Records when things were last used, to the hour. Uses are written after the requests that caused them;
// while the store is unreachable they are queued, and beyond the bound dropped.

import { type Clock, systemClock } from '../base/clock.ts'
import type { Logger } from '../log/log.ts'
import { StoreUnreachable } from '../store/contract/store.ts'

interface HourlyUsesOptions<Use> {
  readonly what: string
  /** Writes uses, at most `atOnce` at a time. */
  readonly write: (uses: readonly Use[]) => Promise<void>
  readonly atOnce: number
  readonly log: Logger
  readonly clock?: Clock
}

export const hourLength = 3_600_000
/** How long a use waits for others, and the delay before a retry while the store is unreachable, in ms. */
const delay = 1000
/** The maximum number of queued uses, and of keys remembered as recorded. */
const maxQueued = 10_000

export class LastUsedTimes<Use> {
  readonly #options: HourlyUsesOptions<Use>
  readonly #clock: Clock
  readonly #recorded = new Set<string>()
  #hour = 0
  readonly #waiting = new Map<string, Use>()
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> | null = null
  /** Whether the last write failed, so that an outage is logged once. */
  #isFailing = false
  #isClosed = false

  constructor(options: HourlyUsesOptions<Use>) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /** Returns the start of this hour, in ms since the epoch. */
  hour(): number {
    const now = this.#clock.now()
    const hour = now - (now % hourLength)
    if (hour !== this.#hour || this.#recorded.size >= maxQueued) this.#recorded.clear()
    this.#hour = hour
    return hour
  }

  /** Whether a use should be recorded, in the hour of the last call of `hour`. */
  wants(key: string): boolean {
    return !this.#recorded.has(key) && !this.#isClosed && this.#waiting.size < maxQueued
  }

  /** Queues a wanted use; never throws, and never waits. */
  note(key: string, use: Use): void {
    this.#recorded.add(key)
    this.#waiting.set(key, use)
    this.#attend()
  }

  /** Writes the queued uses, unless the store is unreachable; later ones are dropped. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#writing
    await this.#writeAll()
    const lost = this.#waiting.size
    this.#waiting.clear()
    const { log, what } = this.#options
    if (lost > 0) log.warn({ lost, of: what }, 'last-used times lost at shutdown')
  }

  #attend(): void {
    if (this.#waiting.size === 0 || this.#timer !== null || this.#writing !== null || this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#writing = this.#writeAll().then(() => {
        this.#writing = null
        this.#attend()
      })
    }, delay).unref()
  }

  async #writeAll(): Promise<void> {
    const waiting = [...this.#waiting]
    const { atOnce } = this.#options
    for (let from = 0; from < waiting.length; from += atOnce) {
      const some = waiting.slice(from, from + atOnce)
      if (!(await this.#write(some.map(([, use]) => use)))) return
      // Its use in the next hour may have been queued in the meantime.
      for (const [key, use] of some) if (this.#waiting.get(key) === use) this.#waiting.delete(key)
    }
  }

  /** Returns false if the store is unreachable, so that the uses are written later. */
  async #write(uses: readonly Use[]): Promise<boolean> {
    const { log, what, write } = this.#options
    try {
      await write(uses)
      if (this.#isFailing) log.info({ of: what }, 'last-used times written again')
      this.#isFailing = false
      return true
    } catch (failure) {
      if (!this.#isFailing) log.warn({ err: failure, of: what }, 'writing last-used times failed')
      this.#isFailing = true
      return !(failure instanceof StoreUnreachable)
    }
  }
}
