// The consents that people gave: which one covers a request, and how another is kept.

import { type Clock, systemClock } from '../../base/clock.ts'
import { newId } from '../../base/ids/id.ts'
import { lacksSecondFactor } from '../../people/second-factor/second-factor.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import { everybody } from '../../store/records/people.ts'
import type { Store } from '../../store/contract/store.ts'
import { faultOfStanding } from './eligibility.ts'
import { redirectHostOf } from '../clients/redirect-uri.ts'

/** What an app asks for. */
interface Asked {
  readonly scopes: readonly string[]
  /** Resource indicators; none for all APIs. */
  readonly resource: readonly string[]
  /** Where the code goes. */
  readonly redirectUri: string
}

interface Covering {
  readonly grant: OAuthGrant
  /** Whether the person has seen the host that the code goes to. */
  readonly isHostSeen: boolean
}

/** What a person decided. */
interface Decided {
  readonly client: OAuthClient
  readonly user: string
  readonly account: string
  readonly allowed: readonly string[]
  readonly declined: readonly string[]
  readonly resource: readonly string[]
  readonly redirectUri: string
}

const pageSize = 100
/** How often a consent is written while others write the same one. */
const attempts = 20

export class Consents {
  readonly #store: Store
  readonly #clock: Clock

  constructor(store: Store, clock = systemClock) {
    this.#store = store
    this.#clock = clock
  }

  /**
   * Finds the consent that covers a request; null where there is none, or where several accounts have one, so
   * that the person has to choose.
   */
  async covering(client: OAuthClient, user: string, asked: Asked): Promise<Covering | null> {
    const host = redirectHostOf(asked.redirectUri)
    const found: Covering[] = []
    for await (const grant of this.#of(client, user)) {
      const { account } = grant
      if (!covers(grant, client, asked)) continue
      if ((await faultOfStanding(this.#store, { client, user, account })) !== null) continue
      // Whom an account has come to require a second factor of is told so before the app gets tokens that
      // open nothing.
      if (await this.#isShut(user, account)) continue
      found.push({ grant, isHostSeen: grant.redirectHosts!.includes(host) })
    }
    const isOneAccount = new Set(found.map(({ grant }) => grant.account)).size === 1
    return isOneAccount ? (found.find(({ isHostSeen }) => isHostSeen) ?? found[0]!) : null
  }

  /** Keeps what a person decided, beside what was allowed in that account for the same resources before. */
  async keep(decided: Decided): Promise<OAuthGrant> {
    const { client, user, account } = decided
    const party = { client: client.id, user, account, resource: inOrder(decided.resource) }
    for (let attempt = 0; attempt < attempts; attempt++) {
      const before = await this.#store.oauthGrants.find(party)
      const grant = grantOf(decided, before?.record ?? null, this.#clock.now())
      const isKept =
        before === null
          ? await this.#store.oauthGrants.insert(grant)
          : await this.#store.oauthGrants.replace(grant, before.version)
      if (isKept) return grant
    }
    throw new Error('the consent could not be kept: others keep writing it')
  }

  /** Whether a user lacks the second factor that an account requires. */
  async #isShut(user: string, account: string): Promise<boolean> {
    if (account === everybody) return false
    const [kept, found] = await Promise.all([
      this.#store.users.get(everybody, user),
      this.#store.accounts.get(account),
    ])
    return kept !== null && found !== null && lacksSecondFactor(kept.record, found)
  }

  async *#of(client: OAuthClient, user: string): AsyncIterable<OAuthGrant> {
    for (let offset = 0; ; offset += pageSize) {
      const { items } = await this.#store.oauthGrants.ofUser(user, { offset, limit: pageSize })
      yield* items.filter(grant => grant.client === client.id)
      if (items.length < pageSize) return
    }
  }
}

function covers(grant: OAuthGrant, { optionalScopes }: OAuthClient, { scopes, resource }: Asked): boolean {
  const { declined, redirectHosts } = grant
  if (redirectHosts === undefined) return false
  const isAnswered = (scope: string) =>
    grant.scopes.includes(scope) || (optionalScopes.includes(scope) && declined.includes(scope))
  if (!scopes.every(isAnswered)) return false
  if (grant.resource.length === 0) return true
  return resource.length > 0 && resource.every(one => grant.resource.includes(one))
}

function grantOf(decided: Decided, before: OAuthGrant | null, now: number): OAuthGrant {
  const { client, user, account, allowed, declined, resource, redirectUri } = decided
  const kept = (before?.scopes ?? []).filter(scope => !declined.includes(scope))
  const scopes = union(kept, allowed)
  return {
    account,
    id: before?.id ?? newId(),
    user,
    client: client.id,
    clientAccount: client.account,
    scopes,
    declined: union(before?.declined ?? [], declined).filter(scope => !scopes.includes(scope)),
    resource: inOrder(resource),
    redirectHosts: union(before?.redirectHosts ?? [], [redirectHostOf(redirectUri)]),
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  }
}

/** Resources in another order are the same ones. */
function inOrder(resource: readonly string[]): string[] {
  return [...new Set(resource)].sort()
}

function union(some: readonly string[], more: readonly string[]): string[] {
  return [...new Set([...some, ...more])]
}
