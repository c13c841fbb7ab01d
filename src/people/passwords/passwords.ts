// Digests of passwords, two at a time: a flood of sign-ins must take neither all memory nor all processors.

import { randomBytes } from 'node:crypto'
import { type Argon2Cost, type Argon2Digest, digestWith, hasDigest, readPhc, writePhc } from './argon2.ts'
import { normalPassword, passwordBounds } from './password-rules.ts'

interface PasswordsOptions {
  readonly cost?: Argon2Cost
  /** Each takes a thread of the pool that files and name lookups need as well. */
  readonly atOnce?: number
  readonly maxQueued?: number
}

/** 45 to 65 ms on a busy core of 2026, and 32 MiB while it is computed. */
const usualCost: Argon2Cost = { memory: 32_768, passes: 2, parallelism: 1 }

const saltLength = 16

interface Verdict {
  readonly matches: boolean
  /** Whether it matches a digest of another cost, which should be made again. */
  readonly isOutdated: boolean
}

export class Passwords {
  readonly #cost: Argon2Cost
  readonly #maxQueued: number
  #free: number
  readonly #queue: (() => void)[] = []
  readonly #nobody: Argon2Digest

  constructor({ cost = usualCost, atOnce = 2, maxQueued = 32 }: PasswordsOptions = {}) {
    this.#cost = cost
    this.#free = atOnce
    this.#maxQueued = maxQueued
    this.#nobody = { ...cost, salt: randomBytes(saltLength), digest: randomBytes(32) }
  }

  /** Makes the digest of a password, as a PHC string; null when the queue is full. */
  hash(password: string): Promise<string | null> {
    return this.#inTurn(async () =>
      writePhc(await digestWith(normalPassword(password), this.#cost, randomBytes(saltLength))),
    )
  }

  /** Takes as long for null, which has no match. Null when the queue is full. */
  verify(password: string, phc: string | null): Promise<Verdict | null> {
    const digest = phc === null ? null : readPhc(phc)
    const text = normalPassword(password)
    // A password that long is never accepted.
    const isPossible = Buffer.byteLength(text) <= passwordBounds.maxBytes
    return this.#inTurn(async () => {
      const isSame = await hasDigest(isPossible ? text : '', digest ?? this.#nobody)
      const matches = isSame && isPossible && digest !== null
      return { matches, isOutdated: matches && !this.#isOfCost(digest) }
    })
  }

  #isOfCost({ memory, passes, parallelism }: Argon2Cost): boolean {
    const { memory: m, passes: t, parallelism: p } = this.#cost
    return memory === m && passes === t && parallelism === p
  }

  async #inTurn<T>(compute: () => Promise<T>): Promise<T | null> {
    if (this.#free > 0) this.#free--
    else if (this.#queue.length >= this.#maxQueued) return null
    else await new Promise<void>(resolve => this.#queue.push(resolve))
    try {
      return await compute()
    } finally {
      const next = this.#queue.shift()
      if (next) next()
      else this.#free++
    }
  }
}
