// Announces to other workers the keys that one has read. Each queries the store itself, and so has them
// cached when the store becomes unreachable. Only keys are sent, so a revoked record stays revoked.

import { StoreUnreachable } from '../contract/store.ts'

/** A digest of a token, or the name of a gateway behind its account. */
export type AnnouncedKey = readonly [kind: 'token' | 'access_token' | 'gateway', key: string]

/**
 * The minimum time between two messages, in ms, and the maximum number of keys in that time; others are not
 * announced.
 */
const period = 100
const maxMessages = 10
const maxSent = 1_000
/** The maximum number of keys kept for later workers, or still to be loaded. */
const maxKept = 10_000
/** Concurrent queries to the store, and the delay before a retry while it is unreachable, in ms. */
const maxQueries = 8
const retry = 1_000

export class LatestKeys {
  readonly #keys = new Map<string, AnnouncedKey>()

  get count(): number {
    return this.#keys.size
  }

  get all(): readonly AnnouncedKey[] {
    return [...this.#keys.values()]
  }

  has(announced: AnnouncedKey): boolean {
    return this.#keys.has(nameOf(announced))
  }

  add(announced: AnnouncedKey): void {
    const name = nameOf(announced)
    this.#keys.delete(name)
    this.#keys.set(name, announced)
    if (this.#keys.size > maxKept) this.take()
  }

  take(): AnnouncedKey | undefined {
    for (const [name, announced] of this.#keys) {
      this.#keys.delete(name)
      return announced
    }
    return undefined
  }
}

/** Announces keys, usually at once, but with at most ten messages and 1,000 keys in 100 ms. */
export class KeyAnnouncer {
  readonly #send: (keys: readonly AnnouncedKey[]) => Promise<unknown>
  #waiting = new Map<string, AnnouncedKey>()
  #isSending = false
  /** Ends the current period; null if nothing has been sent recently. */
  #timer: NodeJS.Timeout | null = null
  #messages = 0
  #keys = 0

  /** `send` sends a message and resolves when the next one may follow; it must not reject. */
  constructor(send: (keys: readonly AnnouncedKey[]) => Promise<unknown>) {
    this.#send = send
  }

  add(announced: AnnouncedKey): void {
    if (this.#waiting.size < maxSent - this.#keys) this.#waiting.set(nameOf(announced), announced)
    if (!this.#isSending) void this.#post()
  }

  async #post(): Promise<void> {
    this.#isSending = true
    while (this.#waiting.size > 0 && this.#messages < maxMessages) {
      this.#timer ??= setTimeout(() => this.#beginAnew(), period).unref()
      const keys = [...this.#waiting.values()]
      this.#waiting = new Map()
      this.#messages++
      this.#keys += keys.length
      await this.#send(keys)
    }
    this.#isSending = false
  }

  #beginAnew(): void {
    this.#timer = null
    this.#messages = 0
    this.#keys = 0
    if (!this.#isSending) void this.#post()
  }
}

/** Loads the keys that others have announced, a few at a time. They wait while the store is unreachable. */
export class AnnouncedKeyLoader {
  readonly #recall: (announced: AnnouncedKey) => Promise<void>
  readonly #waiting = new LatestKeys()
  readonly #asking = new Set<string>()
  #timer: NodeJS.Timeout | null = null

  /** `recall` loads a key from the store into the cache, and rejects with `StoreUnreachable`. */
  constructor(recall: (announced: AnnouncedKey) => Promise<void>) {
    this.#recall = recall
  }

  hear(keys: readonly AnnouncedKey[]): void {
    for (const announced of keys) this.#waiting.add(announced)
    this.#ask()
  }

  /** Whether others have announced a key that is still to be loaded here. */
  awaits(announced: AnnouncedKey): boolean {
    return this.#waiting.has(announced) || this.#asking.has(nameOf(announced))
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    while (this.#waiting.take() !== undefined) {}
  }

  #ask(): void {
    while (this.#asking.size < maxQueries && this.#waiting.count > 0 && this.#timer === null)
      void this.#askOne()
  }

  async #askOne(): Promise<void> {
    const announced = this.#waiting.take()!
    const name = nameOf(announced)
    this.#asking.add(name)
    try {
      await this.#recall(announced)
    } catch (failure) {
      // Any other failure is reported to the requests that need the key.
      if (failure instanceof StoreUnreachable) this.#askLater(announced)
    }
    this.#asking.delete(name)
    this.#ask()
  }

  #askLater(announced: AnnouncedKey): void {
    this.#waiting.add(announced)
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#ask()
    }, retry).unref()
  }
}

function nameOf(announced: AnnouncedKey): string {
  return announced.join(' ')
}
