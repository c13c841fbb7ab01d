// What one worker has found in the store, told to those beside it by key alone: each then asks the store itself, and knows as much when that goes away. A key
// proves nothing, so what was revoked stays so, whichever message comes first.

import { StoreUnreachable } from './store.ts'

/** A digest of a token, or the name of a gateway behind its account. */
export type FoundKey = readonly [kind: 'token' | 'access_token' | 'gateway', key: string]

/** How many messages are sent in a period, in ms, and with how many keys; more are not told. */
const period = 100
const mostMessages = 10
const mostSent = 1_000
/** The most keys that are kept for those who come later, or wait to be asked for; the oldest go. */
const mostKept = 10_000
/** Questions to the store at a time, and ms until the next one while it is away. */
const mostAsking = 8
const retry = 1_000

/** The latest keys, each once. */
export class LatestKeys {
  readonly #keys = new Map<string, FoundKey>()

  get count(): number {
    return this.#keys.size
  }

  /** Returns all, the latest last. */
  get all(): readonly FoundKey[] {
    return [...this.#keys.values()]
  }

  has(found: FoundKey): boolean {
    return this.#keys.has(nameOf(found))
  }

  add(found: FoundKey): void {
    const name = nameOf(found)
    this.#keys.delete(name)
    this.#keys.set(name, found)
    if (this.#keys.size > mostKept) this.take()
  }

  /** Hands out the oldest. */
  take(): FoundKey | undefined {
    for (const [name, found] of this.#keys) {
      this.#keys.delete(name)
      return found
    }
    return undefined
  }
}

/** Informs others of what was found: at once as a rule, and no more than ten messages and 1,000 keys in 100 ms. */
export class FoundPost {
  readonly #send: (keys: readonly FoundKey[]) => Promise<unknown>
  #waiting = new Map<string, FoundKey>()
  #isSending = false
  /** Ends a period; null where nothing was sent in one yet. */
  #timer: NodeJS.Timeout | null = null
  #messages = 0
  #keys = 0

  /** Takes what sends a message, and says when the next may follow; it must not reject. */
  constructor(send: (keys: readonly FoundKey[]) => Promise<unknown>) {
    this.#send = send
  }

  add(found: FoundKey): void {
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

/** Asks the store for what others have found there, a few at a time; while it is away they wait. */
export class FoundReader {
  readonly #recall: (found: FoundKey) => Promise<void>
  readonly #waiting = new LatestKeys()
  readonly #asking = new Set<string>()
  #timer: NodeJS.Timeout | null = null

  /** Takes what asks the store for a key and remembers the answer, and rejects with `StoreUnreachable`. */
  constructor(recall: (found: FoundKey) => Promise<void>) {
    this.#recall = recall
  }

  hear(keys: readonly FoundKey[]): void {
    for (const found of keys) this.#waiting.add(found)
    this.#ask()
  }

  /** Whether others have found a key that is still to be asked for here. */
  awaits(found: FoundKey): boolean {
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
      // Whatever else is wrong with it, those who need it will be told.
      if (failure instanceof StoreUnreachable) this.#askLater(found)
    }
    this.#asking.delete(name)
    this.#ask()
  }

  #askLater(found: FoundKey): void {
    this.#waiting.add(found)
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#ask()
    }, retry).unref()
  }
}

function nameOf(found: FoundKey): string {
  return found.join(' ')
}
