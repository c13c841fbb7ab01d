// The tags of tokens, and of sessions at sites: made-up ones are refused without a query. Without the key,
// each may exist.

import { randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '../base/clock.ts'
import { type Store, StoreUnreachable } from '../store/contract/store.ts'
import { type TokenKey, tokenKeyId, tokenKeyOwner } from '../store/records/token-key.ts'
import type { Tagger } from './tagger.ts'
import { digestOf, type Minted, mintToken, taggerOf, valueTaggerOf } from './token.ts'

/** Ms before a retry to read the key of an unreachable store. */
const pause = 1_000
/** Hex digits kept from the digest of a token without a tag. */
const digestLength = 16

interface LoadedKey {
  readonly tagger: Tagger
  readonly ofValues: Tagger
  readonly untagged: ReadonlySet<string>
}

/** Makes the key of a store; `untagged` has the digests of valid tokens without a tag. */
export function newTokenKey(now: number, untagged: readonly string[] = []): TokenKey {
  return {
    account: tokenKeyOwner,
    id: tokenKeyId,
    key: randomBytes(32).toString('base64url'),
    untagged: untagged.map(digest => digest.slice(0, digestLength)),
    createdAt: now,
  }
}

export function taggerOfKey(key: TokenKey): Tagger {
  return taggerOf(bytesOf(key))
}

function bytesOf({ key }: TokenKey): Buffer {
  return Buffer.from(key, 'base64url')
}

export class TokenTags {
  readonly #store: Store
  readonly #clock: Clock
  #loaded: LoadedKey | null = null
  #isDue = true
  #nextLook = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | null = null

  constructor(store: Store, clock = systemClock) {
    this.#store = store
    this.#clock = clock
  }

  /** Reads the key, and again whenever it may have changed; retries while the store is unreachable. */
  async open(): Promise<void> {
    this.#store.changes.follow(({ kind }) => {
      if (kind !== 'token_key' && kind !== 'everything') return
      this.#isDue = true
      void this.#refresh()
    })
    await this.#refresh()
  }

  /** Whether a well-formed token may be in the store; compares in constant time. */
  mayExist(value: string): boolean {
    const key = this.#key()
    if (key === null) return true
    const { tagger, untagged } = key
    if (tagger.verifies(value)) return true
    return untagged.size > 0 && untagged.has(digestOf(value).slice(0, digestLength))
  }

  /** Whether `tagged` may have made a value; true as long as no key is known. Compares in constant time. */
  mayBeTagged(value: string): boolean {
    return this.#key()?.ofValues.verifies(value) ?? true
  }

  /** Adds a tag to a random value of 43 characters; rejects with `StoreUnreachable` if no key is known. */
  async tagged(value: string): Promise<string> {
    await this.ready()
    return value + this.#loaded!.ofValues.tagOf(value)
  }

  /** Makes a token tagged with a key that the store has; rejects with `StoreUnreachable` if none is known. */
  async mint(prefix: 'svct_' | 'svco_'): Promise<Minted> {
    await this.ready()
    return this.mintAtOnce(prefix)
  }

  /** Ensures that the store has a key and that it is known; rejects with `StoreUnreachable`. */
  async ready(): Promise<void> {
    if (this.#loaded === null) this.#use(await keyOf(this.#store, this.#clock.now()))
  }

  /** Requires an earlier `ready`. */
  mintAtOnce(prefix: 'svct_' | 'svco_'): Minted {
    return mintToken(prefix, this.#loaded?.tagger)
  }

  #key(): LoadedKey | null {
    if (this.#isDue && this.#clock.monotonic() >= this.#nextLook) void this.#refresh()
    return this.#loaded
  }

  #refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #read(): Promise<void> {
    this.#nextLook = this.#clock.monotonic() + pause
    this.#isDue = false
    try {
      this.#use((await this.#store.tokenKeys.get(tokenKeyOwner, tokenKeyId))?.record ?? null)
    } catch (error) {
      this.#isDue = true
      if (!(error instanceof StoreUnreachable)) throw error
    }
  }

  #use(key: TokenKey | null): void {
    this.#loaded = key && {
      ...{ tagger: taggerOfKey(key), ofValues: valueTaggerOf(bytesOf(key)) },
      untagged: new Set(key.untagged),
    }
  }
}

/** A store without key gets one that lists its tokens. Rejects with `StoreUnreachable`. */
export async function keyOf(store: Store, now: number): Promise<TokenKey> {
  for (;;) {
    const tokenKey = await store.tokenKeys.get(tokenKeyOwner, tokenKeyId)
    if (tokenKey !== null) return tokenKey.record
    // Of several concurrent processes, one succeeds.
    await store.tokenKeys.insert(newTokenKey(now, await digestsIn(store)))
  }
}

async function digestsIn({ accounts, tokens }: Store): Promise<readonly string[]> {
  const digests: string[] = []
  for (const { id } of await accounts.list())
    for await (const some of tokens.walk(id)) for (const { digest } of some) digests.push(digest)
  return digests
}
