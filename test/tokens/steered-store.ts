// A store in memory that a test makes slow, away or silent; for what a real backend can't be told to do at a given moment.

import type { Parts } from '../../src/oauth/grants/access-tokens.ts'
import type { Gateway, Token } from '../../src/store/records/records.ts'
import type { Member } from '../../src/store/records/people.ts'
import type { PolicySet } from '../../src/store/records/policy.ts'
import { type Change, type Changes, type Store, StoreUnreachable } from '../../src/store/contract/store.ts'
import type { ManualClock } from '../help/clock.ts'

/** Change notices that come when the test says so. */
export class SteeredChanges implements Changes {
  readonly #listeners = new Set<(change: Change) => void>()
  readonly #clock: ManualClock
  /** When notices ceased to flow; null while they do. */
  #silentSince: number | null = null

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  get knownUntil(): number {
    return this.#silentSince ?? this.#clock.monotonic()
  }

  follow(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(change: Change): void {
    for (const listener of this.#listeners) listener(change)
  }

  fallSilent(): void {
    this.#silentSince = this.#clock.monotonic()
  }

  speakAgain(): void {
    this.#silentSince = null
  }
}

type StoredParts = Omit<Parts, 'memberships'>

/** Holds records, counts what it is asked, and waits while `held`. */
export class SteeredStore {
  readonly changes: SteeredChanges
  readonly byDigest = new Map<string, Token>()
  readonly byName = new Map<string, Gateway>()
  /** By the account and the name of their gateway. */
  readonly policies = new Map<string, PolicySet>()
  /** What access tokens are made of, by their digests; of one that lacks a part, the rest is there. */
  readonly parts = new Map<string, Partial<Parts>>()
  /** The digests of the ends of families. */
  readonly ended = new Set<string>()
  isUnreachable = false
  asked = 0
  #held: Promise<void> | null = null

  constructor(clock: ManualClock) {
    this.changes = new SteeredChanges(clock)
  }

  /** Makes lookups wait, with what they found in hand, until the function returned is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held = promise
    return () => {
      this.#held = null
      resolve()
    }
  }

  async look<T>(find: () => T | undefined): Promise<T | null> {
    this.asked++
    if (this.isUnreachable) throw new StoreUnreachable()
    const found = find() ?? null
    await this.#held
    return found
  }

  get store(): Store {
    const tokens = { findByDigest: (digest: string) => this.look(() => this.byDigest.get(digest)) }
    const gateways = {
      get: async (account: string, id: string) => {
        const record = await this.look(() => this.byName.get(`${account}/${id}`))
        return record && { record, version: 1 }
      },
    }
    /** Together with its gateway, so that this is no look of its own. */
    const policySets = {
      get: async (owner: string) => {
        if (this.isUnreachable) throw new StoreUnreachable()
        return versioned(this.policies.get(owner)) ?? null
      },
    }
    const versioned = <T>(record: T | null | undefined) => (record ? { record, version: 1 } : undefined)
    const lookAt = <N extends keyof StoredParts>(
      name: N,
      isIt: (part: NonNullable<StoredParts[N]>) => boolean,
    ) => this.look(() => versioned(this.#partsNamed(name).find(isIt)))
    const byId = (of: string, id: string) => (part: { account: string; id: string }) =>
      part.account === of && part.id === id
    return {
      tokens,
      gateways,
      policySets,
      credentials: {
        get: (_: string, digest: string) => this.look(() => this.parts.get(digest)?.credential),
        hasEnded: (digest: string) => this.look(() => this.ended.has(digest)),
      },
      oauthGrants: { get: (account: string, id: string) => lookAt('grant', byId(account, id)) },
      oauthClients: { get: (account: string, id: string) => lookAt('client', byId(account, id)) },
      accounts: {
        get: (id: string) => this.look(() => this.#partsNamed('account').find(part => part.id === id)),
      },
      users: { get: (account: string, id: string) => lookAt('user', byId(account, id)) },
      members: {
        find: async (account: string, user: string) => {
          const isIt = (member: Member) => member.account === account && member.user === user
          return (await lookAt('member', isIt)) ?? (await lookAt('insider', isIt))
        },
      },
      changes: this.changes,
    } as unknown as Store
  }

  #partsNamed<N extends keyof StoredParts>(name: N): NonNullable<StoredParts[N]>[] {
    return [...this.parts.values()].flatMap(parts => parts[name] ?? []) as NonNullable<StoredParts[N]>[]
  }
}
