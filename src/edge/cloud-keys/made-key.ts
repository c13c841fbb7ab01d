// A key that is made by a call to its cloud, kept until it expires, and renewed before that.

import type { Clock } from '../../base/clock.ts'
import type { Key } from '../../ai/providers/key-ring.ts'
import { KeyFailure } from './key-call.ts'

export interface Minted {
  readonly value: string
  /** Ms; Infinity for a key that does not expire. */
  readonly lifetime: number
  readonly sign?: NonNullable<Key['sign']>
}

interface MadeKeyParts {
  readonly mint: (skew: () => number) => Promise<Minted>
  readonly clock: Clock
  /** Called for the first failure and each with another reason, and once a key is made again. */
  readonly changed: (failure: string | null) => void
}

/** The part of its lifetime after which a key is renewed. */
const renewal = 0.8
/** Ms before its end in which a key is not used any more: it may reach its provider later. */
const margin = 10_000
const firstPause = 1_000
const longestPause = 60_000
/** Ms for which the key of a provider is not replaced again because of a refusal. */
const trial = 30_000
/** Ms by which the clock of a provider may differ; it refuses signatures that are off by five minutes. */
const tolerance = 60_000

export class MadeKey implements Key {
  value = ''
  sign: NonNullable<Key['sign']> | null = null
  readonly restsUntil = 0
  readonly saidUntil = 0
  readonly limits = []
  readonly status = 0
  failures = 0
  readonly workedAt = Number.NEGATIVE_INFINITY
  /** Why the latest attempt to make one failed; null if it did not. */
  failure: string | null = null
  readonly #parts: MadeKeyParts
  #making: Promise<string | null> | null = null
  #madeAt = Number.NEGATIVE_INFINITY
  #renewAt = 0
  #expiresAt = 0
  #retryAt = 0
  /** Ms by which the provider is ahead of this machine. */
  #skew = 0

  constructor(parts: MadeKeyParts) {
    this.#parts = parts
  }

  /** Null for a valid key; else settles with null once there is one, or gives the reason for none. */
  ensure(): Promise<string | null> | string | null {
    const now = this.#parts.clock.monotonic()
    if (now < this.#expiresAt) {
      if (now >= this.#renewAt && now >= this.#retryAt) void this.#make(now)
      return null
    }
    return this.#making === null && this.failure !== null && now < this.#retryAt
      ? this.failure
      : this.#make(now)
  }

  /** Ms until the present key expires; 0 for none. */
  get timeLeft(): number {
    return Math.max(0, this.#expiresAt - this.#parts.clock.monotonic())
  }

  /** Ms until the next attempt to make one. */
  get wait(): number {
    return Math.max(0, this.#retryAt - this.#parts.clock.monotonic())
  }

  /** Drops a key that its provider refused, unless it was made a moment ago. Returns whether it did. */
  drop(): boolean {
    const now = this.#parts.clock.monotonic()
    if (now - this.#madeAt < trial || this.#making !== null) return false
    this.#expiresAt = 0
    return true
  }

  /** Signs by the clock of a provider that refuses signatures by ours. Returns whether that differs. */
  follow(date: string): boolean {
    const skew = Date.parse(date) - this.#parts.clock.now()
    if (!(Math.abs(skew - this.#skew) > tolerance)) return false
    this.#skew = skew
    return true
  }

  #make(now: number): Promise<string | null> {
    this.#making ??= this.#mint(now).finally(() => {
      this.#making = null
    })
    return this.#making
  }

  async #mint(began: number): Promise<string | null> {
    const { mint, clock, changed } = this.#parts
    const before = this.failure
    try {
      const { value, lifetime, sign = null } = await mint(() => this.#skew)
      this.value = value
      this.sign = sign
      this.#madeAt = clock.monotonic()
      this.#renewAt = began + lifetime * renewal
      this.#expiresAt = began + Math.max(lifetime - margin, lifetime * renewal)
      // Metadata services hand out the same key again until shortly before its end.
      this.#retryAt = this.#madeAt + margin
      this.failures = 0
      this.failure = null
    } catch (error) {
      const { message, wait } = error instanceof KeyFailure ? error : unforeseen
      const pause = Math.min(firstPause * 2 ** Math.min(this.failures++, 10), longestPause)
      this.#retryAt = clock.monotonic() + Math.max(pause, Math.min(wait, 5 * longestPause))
      this.failure = message
      if (!(error instanceof KeyFailure)) changed(`${message}: ${(error as Error).stack}`)
    }
    if (this.failure !== before) changed(this.failure)
    return this.failure
  }
}

const unforeseen = { message: 'internal error', wait: 0 }
