// The consents that people have given: which one covers a request, and how another one is stored.

import { type Clock, systemClock } from '../../base/clock.ts'
import { newId } from '../../base/ids/id.ts'
import { lacksSecondFactor } from '../../people/second-factor/second-factor.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import { everybody } from '../../store/records/people.ts'
import type { Api } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import { ineligibilityOf } from './eligibility.ts'
import { isOptional, withIncluded } from '../../permissions/scopes.ts'
import { grantsOfUser } from './iterate-grants.ts'
import { redirectHostOf } from '../clients/redirect-uri.ts'

interface Requirements {
  readonly scopes: readonly string[]
  /** Resource indicators; empty for all APIs of this server. */
  readonly resource: readonly string[]
  readonly redirectUri: string
}

interface CoveringConsent {
  readonly grant: OAuthGrant
  /** Whether the person has seen the host that the code goes to. */
  readonly isHostSeen: boolean
}

interface Decision {
  readonly client: OAuthClient
  readonly user: string
  readonly account: string
  readonly allowed: readonly string[]
  readonly declined: readonly string[]
  readonly resource: readonly string[]
  readonly redirectUri: string
}

/** Attempts to write a consent while others write the same one. */
const maxAttempts = 20

export class Consents {
  readonly #store: Store
  readonly #apiOf: (resource: string) => Api | null
  readonly #clock: Clock

  /** `apiOf` finds the API that a resource indicator means. */
  constructor(store: Store, apiOf: (resource: string) => Api | null, clock = systemClock) {
    this.#store = store
    this.#apiOf = apiOf
    this.#clock = clock
  }

  /** Finds the consent that covers a request; null for none, or several, of which the person chooses. */
  async covering(client: OAuthClient, user: string, required: Requirements): Promise<CoveringConsent | null> {
    const host = redirectHostOf(required.redirectUri)
    const matches: CoveringConsent[] = []
    for await (const grants of grantsOfUser(user, this.#store))
      for (const grant of grants)
        if (
          grant.client === client.id &&
          this.#covers(grant, client, required) &&
          (await this.#isUsable(grant, client))
        )
          matches.push({ grant, isHostSeen: grant.redirectHosts!.includes(host) })
    const isOneAccount = new Set(matches.map(({ grant }) => grant.account)).size === 1
    return isOneAccount ? (matches.find(({ isHostSeen }) => isHostSeen) ?? matches[0]!) : null
  }

  /** Stores a decision, in addition to what was allowed before in that account for the same resources. */
  async store(decision: Decision): Promise<OAuthGrant> {
    const { client, user, account } = decision
    const party = { client: client.id, user, account, resource: inOrder(decision.resource) }
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const before = await this.#store.oauthGrants.find(party)
      const grant = grantOf(decision, before?.record ?? null, this.#clock.now())
      const isStored =
        before === null
          ? await this.#store.oauthGrants.insert(grant)
          : await this.#store.oauthGrants.replace(grant, before.version)
      if (isStored) return grant
    }
    throw new Error('the consent could not be stored: others keep writing it')
  }

  #covers(grant: OAuthGrant, client: OAuthClient, { scopes, resource }: Requirements): boolean {
    if (grant.redirectHosts === undefined) return false
    const [allowed, declined] = [withIncluded(grant.scopes), withIncluded(grant.declined)]
    const isDecided = (scope: string) =>
      allowed.includes(scope) || (isOptional(scope, client) && declined.includes(scope))
    if (!scopes.every(isDecided)) return false
    // A consent without resources is for the APIs of this server: no route has been named to the person.
    if (grant.resource.length === 0) return resource.every(one => this.#apiOf(one) !== null)
    return resource.length > 0 && resource.every(one => grant.resource.includes(one))
  }

  /**
   * Whether the client may act by a grant now. A user without a required second factor is asked again, to
   * find that out before the app gets useless tokens.
   */
  async #isUsable({ user, account }: OAuthGrant, client: OAuthClient): Promise<boolean> {
    if ((await ineligibilityOf(this.#store, { client, user, account })) !== null) return false
    if (account === everybody) return true
    const [person, record] = await Promise.all([
      this.#store.users.get(everybody, user),
      this.#store.accounts.get(account),
    ])
    return person === null || record === null || !lacksSecondFactor(person.record, record)
  }
}

function grantOf(decision: Decision, before: OAuthGrant | null, now: number): OAuthGrant {
  const { client, user, account, allowed, declined, resource, redirectUri } = decision
  const stillAllowed = (before?.scopes ?? []).filter(scope => !declined.includes(scope))
  const scopes = union(stillAllowed, allowed)
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

/** Sorts resources, since their order means nothing. */
function inOrder(resource: readonly string[]): string[] {
  return [...new Set(resource)].sort()
}

function union(some: readonly string[], more: readonly string[]): string[] {
  return [...new Set([...some, ...more])]
}
