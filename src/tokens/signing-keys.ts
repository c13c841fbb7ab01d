// The keys that sign tokens of one purpose. They rotate by themselves: each is published a day before it
// signs.

import { day, hour } from '../base/units.ts'
import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { type Clock, systemClock } from '../base/clock.ts'
import type { SecretKeys } from '../base/secrets/secret-keys.ts'
import type { Logger } from '../log/log.ts'
import type { KeyOwner, SigningKey } from '../store/records/signing-key.ts'
import type { Store } from '../store/contract/store.ts'

export type Jwk = Readonly<Record<string, string>>

export interface KeySet {
  readonly name: string
  /** Private keys; the first one signs. */
  readonly signing: readonly Jwk[]
  /** Public keys that may have signed a valid token, and the next one. */
  readonly published: readonly Jwk[]
}

interface SigningKeysOptions {
  readonly owner: KeyOwner
  readonly store: Store
  /** Null until they are made. */
  readonly secrets: () => SecretKeys | null
  readonly log: Logger
  readonly clock?: Clock
}

const period = 90 * day
/** How long the next key is published before it signs, since clients remember keys. */
const lead = day
const tail = day + hour
const cacheLife = 60_000
const maxKeys = 100

export class SigningKeys {
  readonly #owner: KeyOwner
  readonly #prefix: string
  readonly #store: Store
  readonly #secrets: SigningKeysOptions['secrets']
  readonly #log: Logger
  readonly #clock: Clock
  #cached: { readonly set: KeySet; readonly at: number } | null = null
  #reading: Promise<KeySet> | null = null

  constructor({ owner, store, secrets, log, clock = systemClock }: SigningKeysOptions) {
    this.#owner = owner
    this.#prefix = prefixes[owner]
    this.#store = store
    this.#secrets = secrets
    this.#log = log
    this.#clock = clock
  }

  /** Creates the next key when it is due; rejects with `StoreUnreachable` without any. */
  async current(): Promise<KeySet> {
    if (this.#cached === null) return this.#refresh()
    if (this.#clock.now() - this.#cached.at > cacheLife) this.#refresh().catch(() => {})
    return this.#cached.set
  }

  #refresh(): Promise<KeySet> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #read(): Promise<KeySet> {
    let keys = await this.#list()
    const newest = keys.at(-1)
    const isDue = newest === undefined || this.#clock.now() - newest.createdAt >= period - lead
    const isLost = newest !== undefined && !keys.some(key => this.#open(key) !== null)
    if (isLost)
      this.#log.warn(
        { key: newest.id },
        'signing keys unreadable: sealed with unknown keys, creating another one',
      )
    if (isDue || isLost) {
      await this.#make(newest)
      keys = await this.#list()
    }
    const set = this.#setOf(await this.#withoutOld(keys))
    this.#cached = { set, at: this.#clock.now() }
    return set
  }

  async #list(): Promise<readonly SigningKey[]> {
    const { items } = await this.#store.signingKeys.list(this.#owner, { offset: 0, limit: maxKeys })
    return items
  }

  /** Creates the next key. If several processes do, one succeeds: the id is the same for all. */
  async #make(newest: SigningKey | undefined): Promise<void> {
    const number = Number(newest?.id.slice(this.#prefix.length) ?? 0) + 1
    const id = `${this.#prefix}${number}`
    const secrets = this.#secrets()
    if (secrets === null) throw new Error('the keys that seal secrets are not made yet')
    const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })
    const jwk = privateKey.export({ format: 'jwk' }) as Jwk
    const isMade = await this.#store.signingKeys.insert({
      account: this.#owner,
      id,
      publicKey: { kty: jwk.kty!, crv: jwk.crv!, x: jwk.x!, y: jwk.y!, kid: id, alg: 'ES256', use: 'sig' },
      sealed: secrets.seal(JSON.stringify(jwk), sealContext(id)),
      createdAt: this.#clock.now(),
    })
    if (isMade) this.#log.info({ key: id }, 'created a signing key')
  }

  async #withoutOld(keys: readonly SigningKey[]): Promise<readonly SigningKey[]> {
    const [oldest, next, ...later] = keys
    if (next === undefined) return keys
    if (this.#clock.now() < next.createdAt + lead + tail) return keys
    await this.#store.signingKeys.remove(this.#owner, oldest!.id)
    return this.#withoutOld([next, ...later])
  }

  #setOf(keys: readonly SigningKey[]): KeySet {
    const usable = keys.flatMap(key => {
      const jwk = this.#open(key)
      return jwk === null ? [] : [{ key, jwk }]
    })
    const now = this.#clock.now()
    const first = usable.findLast(({ key }) => key.createdAt + lead <= now)
    const others = usable.filter(one => one !== first)
    const ordered = first === undefined ? others : [first, ...others]
    return {
      name: ordered.map(({ key }) => key.id).join(' '),
      signing: ordered.map(({ key, jwk }) => ({ ...jwk, kid: key.id, alg: 'ES256', use: 'sig' })),
      published: keys.map(({ publicKey }) => publicKey),
    }
  }

  #open({ id, sealed }: SigningKey): Jwk | null {
    const text = this.#secrets()?.unseal(sealed, sealContext(id)) ?? null
    return text === null ? null : JSON.parse(text)
  }
}

/** How ids begin; a key is sealed for its id, so that none can be put in the place of another. */
const prefixes: Readonly<Record<KeyOwner, string>> = { oauth: 'gatehouse-', identity: 'identity-' }

function sealContext(id: string): string {
  return `signing key ${id}`
}
