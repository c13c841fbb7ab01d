// When things were last used, to the hour, written behind the requests that used them; while the store is unreachable uses wait for it, and beyond the bound they
// are not noted.

import { type Clock, systemClock } from '../base/clock.ts'
import type { Logger } from '../log/log.ts'
import { StoreUnreachable } from '../store/contract/store.ts'

interface HourlyUsesOptions<Use> {
  /** What is used, in the plural, as the log has it. */
  readonly what: string
  /** Writes uses, at most `atOnce` of them. */
  readonly write: (uses: readonly Use[]) => Promise<void>
  readonly atOnce: number
  readonly log: Logger
  readonly clock?: Clock
}

export const hourLength = 3_600_000
/** Ms that a use waits for others, and between two attempts while the store is unreachable. */
const patience = 1000
/** Uses that may wait, and that are remembered as noted. */
const most = 10_000

export class LastUsedTimes<Use> {
  readonly #options: HourlyUsesOptions<Use>
  readonly #clock: Clock
  /** The keys of what was noted in this hour already. */
  readonly #noted = new Set<string>()
  #hour = 0
  readonly #waiting = new Map<string, Use>()
  #timer: NodeJS.Timeout | null = null
  /** The write that is under way. */
  #writing: Promise<void> | null = null
  /** Whether the last write failed: the log is told of an outage once. */
  #isFailing = false
  #isClosed = false

  constructor(options: HourlyUsesOptions<Use>) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /** Returns when this hour began, in ms since the epoch. */
  hour(): number {
    const now = this.#clock.now()
    const hour = now - (now % hourLength)
    if (hour !== this.#hour || this.#noted.size >= most) this.#noted.clear()
    this.#hour = hour
    return hour
  }

  /** Whether a use in the hour that was asked for last is to be noted. */
  wants(key: string): boolean {
    return !this.#noted.has(key) && !this.#isClosed && this.#waiting.size < most
  }

  /** Takes a use that is wanted; never throws, and waits for nothing. */
  note(key: string, use: Use): void {
    this.#noted.add(key)
    this.#waiting.set(key, use)
    this.#attend()
  }

  /** Writes what waits, unless the store is unreachable; what comes after is forgotten. */
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
    }, patience).unref()
  }

  async #writeAll(): Promise<void> {
    const waiting = [...this.#waiting]
    const { atOnce } = this.#options
    for (let from = 0; from < waiting.length; from += atOnce) {
      const some = waiting.slice(from, from + atOnce)
      if (!(await this.#write(some.map(([, use]) => use)))) return
      // The next hour of one may have come meanwhile.
      for (const [key, use] of some) if (this.#waiting.get(key) === use) this.#waiting.delete(key)
    }
  }

  /** Returns false when the store is unreachable, which then gets them later. */
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
