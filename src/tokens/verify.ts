// Verifies a token: who owns it, and whether it is valid now.
// While the store is unreachable, a token that was verified stays valid for the grace, and one that no process remembers is refused as `store_away`.

import { timingSafeEqual } from 'node:crypto'
import { AddressSet } from '../base/address/address.ts'
import type { AiMetrics, RefuseReason } from '../metrics/ai-metrics.ts'
import { ownText } from '../base/text/own-text.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Lent } from '../store/lending.ts'
import { ReadThrough } from '../store/read-through.ts'
import type { Token } from '../store/records.ts'
import { type Store, StoreUnreachable } from '../store/store.ts'
import { digestOf, isWellFormed } from './token.ts'

export type TokenFault = Exclude<RefuseReason, 'forbidden' | 'misplaced'>

interface VerifierOptions {
  readonly store: Store
  /** How long a verified token stays valid while the store is unreachable, in ms. */
  readonly grace: number
  /** Counts its `lookups`; decisions are counted where they are made. */
  readonly metrics: AiMetrics
  /** Called with each digest whose token is in the store. */
  readonly found?: ((digest: string) => void) | undefined
  /** Asks other processes for what they know while the store is unreachable; never rejects. */
  readonly borrow?: ((digest: string) => Promise<Lent<Token> | null>) | undefined
  readonly clock?: Clock
}

/** The last token that a connection sent: mostly it sends the same again, which then needs no new digest. */
export class Shown {
  value = ''
  digest = ''
}

/** A token, compiled for the checks of each use. */
interface Known {
  readonly token: Token
  readonly digest: Buffer
  readonly allowed: AddressSet | null
  readonly denied: AddressSet | null
}

const size = 10_000
const missLife = 5_000

export class TokenVerifier {
  readonly #known: ReadThrough<Known>
  readonly #lookups: AiMetrics['lookups']
  readonly #clock: Clock

  constructor({ store, grace, metrics, found, borrow, clock = systemClock }: VerifierOptions) {
    this.#lookups = metrics.lookups
    this.#clock = clock
    this.#known = new ReadThrough({
      load: async digest => compile(await store.tokens.findByDigest(digest)),
      changes: store.changes,
      kinds: ['token'],
      concerns: ({ id, account }, { token }) => token.id === id && token.account === account,
      size,
      missLife,
      grace,
      found,
      borrow: borrow && (async digest => compileLent(await borrow(digest))),
      now: () => clock.monotonic(),
    })
  }

  /** Verifies what a client at `address` (null when unknown) sent: at once where the token is remembered or malformed; no input makes it throw or reject. */
  verify(
    value: string | null,
    address: string | null,
    shown: Shown | null = null,
  ): Token | TokenFault | Promise<Token | TokenFault> {
    if (value === null) return 'missing'
    if (value === shown?.value) return this.#verifyDigest(shown.digest, address)
    if (!isWellFormed(value)) return 'malformed'
    const digest = digestOf(value)
    const verdict = this.#verifyDigest(digest, address)
    if (shown !== null && typeof verdict === 'object' && !(verdict instanceof Promise)) {
      shown.value = ownText(value)
      shown.digest = digest
    }
    return verdict
  }

  /** Loads a token by a digest that another process has found, unless it is remembered; rejects with `StoreUnreachable`. */
  async recall(digest: string): Promise<void> {
    await this.#known.recall(digest)
    this.#lookups.told.inc()
  }

  /** Returns what is known about a token, for another process on this machine; null where nothing is. */
  lend(digest: string): Lent<Token> | null {
    const lent = this.#known.lend(digest)
    return lent && { value: lent.value.token, age: lent.age }
  }

  #verifyDigest(digest: string, address: string | null): Token | TokenFault | Promise<Token | TokenFault> {
    const known = this.#known.get(digest)
    if (known instanceof Promise) return this.#afterLookup(known, digest, address)
    this.#lookups.remembered.inc()
    return this.#judge(known, digest, address)
  }

  async #afterLookup(
    lookup: Promise<Known | null>,
    digest: string,
    address: string | null,
  ): Promise<Token | TokenFault> {
    this.#lookups.asked.inc()
    try {
      return this.#judge(await lookup, digest, address)
    } catch (error) {
      if (error instanceof StoreUnreachable) return 'store_away'
      throw error
    }
  }

  #judge(known: Known | null, digest: string, address: string | null): Token | TokenFault {
    if (known === null || !matches(known.digest, digest)) return 'unknown'
    const { token, allowed, denied } = known
    if (token.status === 'disabled') return 'disabled'
    const now = this.#clock.now()
    if (token.notBefore !== null && now < token.notBefore) return 'not_yet_valid'
    if (token.expiresOn !== null && now >= token.expiresOn) return 'expired'
    if (denied === null && allowed === null) return token
    if (address === null) return 'address_unknown'
    if (denied?.has(address) || allowed?.has(address) === false) return 'address_denied'
    return token
  }
}

function compileLent(lent: Lent<Token> | null): Lent<Known> | null {
  return lent && { value: compile(lent.value), age: lent.age }
}

function compile(token: Token): Known
function compile(token: Token | null): Known | null
function compile(token: Token | null): Known | null {
  if (token === null) return null
  const { digest, addressesIn, addressesNotIn } = token
  return {
    token,
    digest: Buffer.from(digest, 'latin1'),
    allowed: addressesIn.length > 0 ? new AddressSet(addressesIn) : null,
    denied: addressesNotIn.length > 0 ? new AddressSet(addressesNotIn) : null,
  }
}

const presented = Buffer.alloc(64)

/** Compares in constant time, so that timing reveals nothing about the digests in the store. */
function matches(kept: Buffer, digest: string): boolean {
  presented.write(digest, 'latin1')
  return kept.length === presented.length && timingSafeEqual(kept, presented)
}
