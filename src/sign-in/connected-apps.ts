// The apps that people have authorized, for their owner to see and end.

import { type Clock, systemClock } from '../base/clock.ts'
import type { ClientInfo } from '../people/records/client-info.ts'
import { shownNameOf } from '../oauth/clients/proven-host.ts'
import { removeGrant } from '../oauth/grants/end-grant.ts'
import { apisOf } from '../oauth/grants/resource-indicator.ts'
import { findGrantOfUser } from '../oauth/grants/iterate-grants.ts'
import type { RouteResources } from '../oauth/grants/route-resources.ts'
import { auditOf, inPerson, type KnownUser } from '../store/records/audit-entry.ts'
import type { OAuthGrant } from '../store/records/oauth-grant.ts'
import { everybody } from '../store/records/people.ts'
import type { Api } from '../store/records/records.ts'
import type { Store } from '../store/contract/store.ts'
import type { ShownGrant } from '../pages/views/account.ts'

const maxApps = 100

export class Grants {
  readonly #store: Store
  readonly #apiOf: (resource: string) => Api | null
  readonly #routes: RouteResources
  readonly #clock: Clock

  constructor(
    store: Store,
    apiOf: (resource: string) => Api | null,
    routes: RouteResources,
    clock: Clock = systemClock,
  ) {
    this.#routes = routes
    this.#store = store
    this.#apiOf = apiOf
    this.#clock = clock
  }

  /** Lists those of a user, oldest first; at most 100. */
  async list(user: string): Promise<readonly ShownGrant[]> {
    const { items } = await this.#store.oauthGrants.ofUser(user, { offset: 0, limit: maxApps })
    return Promise.all(items.map(grant => this.#shown(grant)))
  }

  /** Ends one of a user's, and all access through it; false if there is none. */
  async end(user: KnownUser, id: string, { address, ray }: ClientInfo): Promise<boolean> {
    const grant = await findGrantOfUser(user.id, id, this.#store)
    if (grant === null) return false
    const origin = { account: grant.account, caller: inPerson(user), now: this.#clock.now(), address, ray }
    const audit = auditOf(origin, 'revoke', { resourceKind: 'oauth_grant', resource: id })
    return removeGrant(grant, audit, this.#store)
  }

  async #shown({
    id,
    client,
    clientAccount,
    account,
    scopes,
    resource,
    createdAt,
  }: OAuthGrant): Promise<ShownGrant> {
    const [oauthClient, place] = await Promise.all([
      this.#store.oauthClients.get(clientAccount, client),
      account === everybody ? null : this.#store.accounts.get(account),
    ])
    const names = this.#routes.scopes.filter(scope => scopes.includes(scope.id)).map(({ name }) => name)
    const app = oauthClient === null ? 'An app that was deleted' : shownNameOf(oauthClient.record)
    const apis = apisOf(resource, this.#apiOf)
    const resources = resource.filter(one => this.#apiOf(one) === null && this.#routes.at(one) !== null)
    return { id, app, account: place?.name ?? null, scopes: names, apis, resources, createdAt }
  }
}
