// When API tokens were last used, to the hour, written behind the requests that used them; while the store is unreachable uses wait for it, and beyond the bound they
// are not noted.

import { type Clock, systemClock } from '../base/clock.ts'
import type { Logger } from '../log/log.ts'
import type { Token, TokenUse } from '../store/records.ts'
import { type Store, StoreUnreachable } from '../store/store.ts'

interface TokenUsesOptions {
  readonly store: { readonly tokens: Pick<Store['tokens'], 'noteUses'> }
  readonly log: Logger
  readonly clock?: Clock
}

const hourLength = 3_600_000
/** Ms that a use waits for others, and between two attempts while the store is unreachable. */
const patience = 1000
/** Uses that may wait, and that are remembered as noted. */
const most = 10_000

export class TokenUses {
  readonly #store: TokenUsesOptions['store']
  readonly #log: Logger
  readonly #clock: Clock
  /** The ids of tokens whose use in this hour was noted already. */
  readonly #noted = new Set<string>()
  #hour = 0
  /** By the id of the token. */
  #waiting = new Map<string, TokenUse>()
  #timer: NodeJS.Timeout | null = null
  /** The write that is under way. */
  #writing: Promise<void> | null = null
  /** Whether the last write failed: the log is told of an outage once. */
  #isFailing = false
  #isClosed = false

  constructor({ store, log, clock = systemClock }: TokenUsesOptions) {
    this.#store = store
    this.#log = log
    this.#clock = clock
  }

  /** Takes it that a token was just used, and returns when the next hour begins (ms since the epoch): uses before are not noted. Never throws, and waits for nothing. */
  note({ account, id }: Token): number {
    const now = this.#clock.now()
    const hour = now - (now % hourLength)
    if (hour !== this.#hour || this.#noted.size >= most) this.#noted.clear()
    this.#hour = hour
    if (!this.#noted.has(id) && !this.#isClosed && this.#waiting.size < most) {
      this.#noted.add(id)
      this.#waiting.set(id, { account, id, at: hour })
      this.#attend()
    }
    return hour + hourLength
  }

  /** Writes what waits, unless the store is unreachable; what comes after is forgotten. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#writing
    await this.#write()
    const lost = this.#waiting.size
    this.#waiting.clear()
    if (lost > 0) this.#log.warn({ lost }, 'last-used times of API tokens lost at shutdown')
  }

  #attend(): void {
    if (this.#waiting.size === 0 || this.#timer !== null || this.#writing !== null || this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#writing = this.#write().then(() => {
        this.#writing = null
        this.#attend()
      })
    }, patience).unref()
  }

  async #write(): Promise<void> {
    if (this.#waiting.size === 0) return
    const uses = this.#waiting
    this.#waiting = new Map()
    try {
      await this.#store.tokens.noteUses([...uses.values()])
      if (this.#isFailing) this.#log.info('last-used times of API tokens written again')
      this.#isFailing = false
    } catch (failure) {
      if (!this.#isFailing) this.#log.warn({ err: failure }, 'writing last-used times of API tokens failed')
      this.#isFailing = true
      if (failure instanceof StoreUnreachable) this.#waiting = new Map([...uses, ...this.#waiting])
    }
  }
}
