// The keys of providers that gateways have of their own, unsealed in memory after each change of a gateway.

import type { Clock } from '../../base/clock.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import { LastUsedTimes } from '../../activity/last-used.ts'
import type { Logger } from '../../log/log.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Gateway, ProviderKey } from '../../store/records/records.ts'
import { type Key, KeyRing } from './key-ring.ts'
import { unsealKey } from './key-seal.ts'
import type { Provider } from './providers.ts'

interface GatewayKeysOptions {
  readonly store: { readonly gateways: Pick<Store['gateways'], 'get' | 'replace'> }
  /** Null while they are not loaded. */
  readonly secrets: () => SecretKeys | null
  readonly log: Logger
  readonly clock?: Clock
}

/** Keys of one provider that are used in turn, in the order of the ring. */
export interface OwnKeys {
  readonly ring: KeyRing
  readonly records: readonly ProviderKey[]
}

type KeyLookup = OwnKeys | 'unreadable' | null

interface Use extends Pick<ProviderKey, 'id'> {
  readonly gateway: Pick<Gateway, 'account' | 'id'>
  readonly at: number
}

const maxRings = 10_000
/** How often a use is written again that another write overtook. */
const maxAttempts = 5

export class GatewayKeys {
  readonly #options: GatewayKeysOptions
  readonly #uses: LastUsedTimes<Use>
  /** By the record: a changed gateway has another one. */
  readonly #lookups = new WeakMap<Gateway, Map<string, KeyLookup>>()
  /** Those of an earlier record, whose keys keep their state. */
  readonly #rings = new Map<string, KeyRing>()

  constructor(options: GatewayKeysOptions) {
    this.#options = options
    const { log, clock } = options
    const write = (uses: readonly Use[]) => this.#write(uses)
    this.#uses = new LastUsedTimes({
      what: 'keys of providers',
      write,
      atOnce: 1,
      log,
      ...(clock && { clock }),
    })
  }

  /** The keys with an alias, or those that calls without one use; null for none. */
  of(gateway: Gateway, provider: Pick<Provider, 'name' | 'ownUrl'>, alias: string | null): KeyLookup {
    const all = gateway.providerConfigs
    if (all === undefined || all.length === 0) return null
    const records = all.filter(
      key => key.provider === provider.name && (alias === null ? key.isDefault : key.alias === alias),
    )
    if (records.length === 0) return null
    const place = JSON.stringify([provider.name, provider.ownUrl, alias])
    let lookups = this.#lookups.get(gateway)
    if (lookups === undefined) this.#lookups.set(gateway, (lookups = new Map()))
    let lookup = lookups.get(place)
    if (lookup === undefined) lookups.set(place, (lookup = this.#open(gateway, provider, place, records)))
    return lookup
  }

  /** Records that a provider has responded to a call with a key. */
  used(gateway: Gateway, { ring, records }: OwnKeys, key: Key): void {
    const record = records[ring.placeOf(key) - 1]
    if (record === undefined) return
    const at = this.#uses.hour()
    const { id } = record
    if (record.usedAt !== at && this.#uses.wants(id)) this.#uses.note(id, { id, gateway, at })
  }

  close(): Promise<void> {
    return this.#uses.close()
  }

  #open(
    gateway: Gateway,
    { ownUrl }: Pick<Provider, 'ownUrl'>,
    place: string,
    records: readonly ProviderKey[],
  ): KeyLookup {
    const secrets = this.#options.secrets()
    const open = records.flatMap(key => {
      const value = secrets && unsealKey(secrets, key.sealed, { gateway, key, url: ownUrl ?? '' })
      return value === null ? [] : [{ key, value }]
    })
    if (open.length < records.length) {
      const { account, id } = gateway
      const facts = {
        account,
        gateway: id,
        provider: records[0]!.provider,
        keys: records.length - open.length,
      }
      this.#options.log.error(facts, unreadable)
    }
    if (open.length === 0) return 'unreadable'
    const name = `${gateway.account}/${gateway.id}/${place}`
    const values = open.map(({ value }) => value)
    const ring = new KeyRing(values, this.#rings.get(name))
    if (this.#rings.size >= maxRings) this.#rings.clear()
    this.#rings.set(name, ring)
    return { ring, records: open.map(({ key }) => key) }
  }

  async #write(uses: readonly Use[]): Promise<void> {
    const { gateways } = this.#options.store
    for (const { id, gateway, at } of uses)
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const current = await gateways.get(gateway.account, gateway.id)
        const keys = current?.record.providerConfigs ?? []
        if (!keys.some(key => key.id === id && (key.usedAt ?? 0) < at)) break
        const providerConfigs = keys.map(key => (key.id === id ? { ...key, usedAt: at } : key))
        if (await gateways.replace({ ...current!.record, providerConfigs }, current!.version)) break
      }
  }
}

const unreadable =
  'keys of a provider cannot be read: they were sealed with an unknown secrets.key, or for another address; add the key to secrets.old_keys, or set them again'
