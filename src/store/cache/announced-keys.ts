// Announces to the other workers, by key alone, what one worker has found in the store: each then queries the store itself, and has it cached when the store becomes unreachable. A key
// proves nothing, so what was revoked stays so, whichever message comes first.

import { StoreUnreachable } from '../contract/store.ts'

/** A digest of a token, or the name of a gateway behind its account. */
export type AnnouncedKey = readonly [kind: 'token' | 'access_token' | 'gateway', key: string]

/** How many messages are sent in a period, in ms, and with how many keys; further keys are not announced. */
const period = 100
const mostMessages = 10
const mostSent = 1_000
/** The most keys that are kept for workers that start later, or wait to be loaded; the oldest are dropped. */
const mostKept = 10_000
/** Queries to the store at a time, and ms until the next one while it is unreachable. */
const mostAsking = 8
const retry = 1_000

/** The latest keys, each once. */
export class LatestKeys {
  readonly #keys = new Map<string, AnnouncedKey>()

  get count(): number {
    return this.#keys.size
  }

  /** Returns all, the most recent last. */
  get all(): readonly AnnouncedKey[] {
    return [...this.#keys.values()]
  }

  has(found: AnnouncedKey): boolean {
    return this.#keys.has(nameOf(found))
  }

  add(found: AnnouncedKey): void {
    const name = nameOf(found)
    this.#keys.delete(name)
    this.#keys.set(name, found)
    if (this.#keys.size > mostKept) this.take()
  }

  /** Removes and returns the oldest. */
  take(): AnnouncedKey | undefined {
    for (const [name, found] of this.#keys) {
      this.#keys.delete(name)
      return found
    }
    return undefined
  }
}

/** Announces what was found: usually at once, but no more than ten messages and 1,000 keys in 100 ms. */
export class KeyAnnouncer {
  readonly #send: (keys: readonly AnnouncedKey[]) => Promise<unknown>
  #waiting = new Map<string, AnnouncedKey>()
  #isSending = false
  /** Ends a period; null where nothing was sent in one yet. */
  #timer: NodeJS.Timeout | null = null
  #messages = 0
  #keys = 0

  /** Takes a function that sends a message and returns when the next may follow; it must not reject. */
  constructor(send: (keys: readonly AnnouncedKey[]) => Promise<unknown>) {
    this.#send = send
  }

  add(found: AnnouncedKey): void {
    if (this.#waiting.size < mostSent - this.#keys) this.#waiting.set(nameOf(found), found)
    if (!this.#isSending) void this.#post()
  }

  async #post(): Promise<void> {
    this.#isSending = true
    while (this.#waiting.size > 0 && this.#messages < mostMessages) {
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

/** Loads what others have found in the store, a few keys at a time; while the store is unreachable they wait. */
export class AnnouncedKeyLoader {
  readonly #recall: (found: AnnouncedKey) => Promise<void>
  readonly #waiting = new LatestKeys()
  readonly #asking = new Set<string>()
  #timer: NodeJS.Timeout | null = null

  /** Takes a function that loads a key from the store into the cache, and rejects with `StoreUnreachable`. */
  constructor(recall: (found: AnnouncedKey) => Promise<void>) {
    this.#recall = recall
  }

  hear(keys: readonly AnnouncedKey[]): void {
    for (const found of keys) this.#waiting.add(found)
    this.#ask()
  }

  /** Whether others have found a key that is still to be loaded here. */
  awaits(found: AnnouncedKey): boolean {
    return this.#waiting.has(found) || this.#asking.has(nameOf(found))
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    while (this.#waiting.take() !== undefined) {}
  }

  #ask(): void {
    while (this.#asking.size < mostAsking && this.#waiting.count > 0 && this.#timer === null)
      void this.#askOne()
  }

  async #askOne(): Promise<void> {
    const found = this.#waiting.take()!
    const name = nameOf(found)
    this.#asking.add(name)
    try {
      await this.#recall(found)
    } catch (failure) {
      // Any other failure will be reported to the requests that need the key.
      if (failure instanceof StoreUnreachable) this.#askLater(found)
    }
    this.#asking.delete(name)
    this.#ask()
  }

  #askLater(found: AnnouncedKey): void {
    this.#waiting.add(found)
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#ask()
    }, retry).unref()
  }
}

function nameOf(found: AnnouncedKey): string {
  return found.join(' ')
}
