// What an access token permits at this moment. None of it is stored with the token: each lookup derives it
// from the consent, the client, the user and their membership, and it ends with any of them.

import { type Credential, isDigest } from '../../store/records/credential.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import { everybody, isEmailVerified, type Member, type User } from '../../store/records/people.ts'
import type { Account, Api, Membership, Token } from '../../store/records/records.ts'
import type { RecordChange } from '../../store/cache/read-through.ts'
import type { MaybeAtOnce, Store } from '../../store/contract/store.ts'
import { groupsOfRoles, groupsOfScopes } from '../../permissions/roles.ts'
import { endDigestOf, familyOf } from './token-family.ts'
import { apisOf } from './resource-indicator.ts'
import { admits } from './eligibility.ts'
import { shownNameOf } from '../clients/proven-host.ts'
import { membershipsOf } from '../../people/sessions/memberships.ts'
import { lacksSecondFactor } from '../../people/second-factor/second-factor.ts'

export interface Parts {
  readonly credential: Credential
  readonly grant: OAuthGrant
  readonly client: OAuthClient
  readonly user: User
  readonly account: Account | null
  readonly member: Member | null
  /** The user's membership in the account that owns the client; null if they have none. */
  readonly insider: Member | null
  /** Those by which gates of routes judge the user; absent for a token that opens none. */
  readonly memberships?: readonly Membership[]
}

/** Finds access tokens for the APIs that accept them. */
export class AccessTokens {
  readonly kinds = ['credential', 'oauth_grant', 'oauth_client', 'user', 'member', 'account'] as const
  readonly #store: Store
  readonly #apiOf: (resource: string) => Api | null

  /** `apiOf` finds the API that a resource indicator means. */
  constructor(store: Store, apiOf: (resource: string) => Api | null) {
    this.#store = store
    this.#apiOf = apiOf
  }

  /**
   * Returns what the access token with a digest permits; null if it does not exist, or a record that it
   * depends on is gone. Rejects with `StoreUnreachable`.
   */
  find(digest: string): MaybeAtOnce<Token | null> {
    const credential = this.#store.credentials.get('access_token', digest)
    return credential === null ? null : this.#read(credential)
  }

  /** Whether a change may affect a token. */
  concerns({ kind, id }: RecordChange, { account, actor }: Token): boolean {
    if (actor === undefined || id === account) return true
    const { user, client, grant, members, memberships } = actor
    if (id === grant || id === client || id === user || members.includes(id)) return true
    if (memberships === undefined) return false
    // A member whose record is new is not known by its id.
    return kind === 'member' || memberships.some(({ account }) => account === id)
  }

  /** The digest of the credential or family that a change has ended; null if it may affect several. */
  endedBy({ kind, id }: RecordChange): string | null {
    return kind === 'credential' && isDigest(id) ? id : null
  }

  groupOf({ actor }: Token): string | null {
    return actor?.end ?? null
  }

  async #read(lookup: MaybeAtOnce<Credential | null>): Promise<Token | null> {
    const credential = await lookup
    const parts = credential && (await this.#partsOf(credential))
    return parts && tokenOf(parts, this.#apiOf)
  }

  async #partsOf(credential: Credential): Promise<Parts | null> {
    const family = familyOf(credential)
    const [grant, hasEnded] = await Promise.all([
      this.#grantOf(credential),
      family !== null && this.#store.credentials.hasEnded(endDigestOf(family)),
    ])
    if (grant === null || hasEnded) return null
    const { oauthClients, users, accounts, members } = this.#store
    const [client, user, account, member, insider] = await Promise.all([
      oauthClients.get(grant.clientAccount, grant.client),
      users.get(everybody, grant.user),
      grant.account === everybody ? null : accounts.get(grant.account),
      grant.account === everybody ? null : members.find(grant.account, grant.user),
      members.find(grant.clientAccount, grant.user),
    ])
    if (client === null || user === null) return null
    const opensRoutes = (limitsOf(credential).resources ?? []).some(one => this.#apiOf(one) === null)
    const memberships = opensRoutes
      ? await membershipsOf(this.#store, user.record, account => admits(account, client.record))
      : []
    return {
      credential,
      grant,
      client: client.record,
      user: user.record,
      account,
      member: member?.record ?? null,
      insider: insider?.record ?? null,
      memberships,
    }
  }

  async #grantOf({ grant, data }: Credential): Promise<OAuthGrant | null> {
    const { account } = (data ?? {}) as { readonly account?: unknown }
    if (grant === null || typeof account !== 'string') return null
    return (await this.#store.oauthGrants.get(account, grant))?.record ?? null
  }
}

/**
 * Returns what an access token permits; null if its records do not belong together or are no longer valid.
 */
export function tokenOf(parts: Parts, apiOf: (resource: string) => Api | null): Token | null {
  const { credential, grant, client, user, account, member, insider, memberships = [] } = parts
  if (credential.consumedAt !== null || credential.grant !== grant.id) return null
  if (credential.client !== client.id || credential.user !== user.id) return null
  if (grant.client !== client.id || grant.user !== user.id) return null
  if (grant.account !== everybody && member?.status !== 'accepted') return null
  const family = familyOf(credential)
  if (account !== null && !admits(account, client)) return null
  const isPrivate = client.visibility === 'private'
  if (isPrivate && insider?.status !== 'accepted') return null
  const { scope, resources } = limitsOf(credential)
  const scopes = grant.scopes.filter(one => client.scopes.includes(one) && scope.includes(one))
  const mayAct = account === null || !lacksSecondFactor(user, account)
  const ofRoles = groupsOfRoles(mayAct ? (member?.roles ?? []) : [])
  const groups = [...groupsOfScopes(scopes)].filter(group => ofRoles.has(group))
  // The token alone does not decide: the consent may be for other resources.
  const consented = apisOf(grant.resource, apiOf)
  const apis = apisOf(resources ?? [], apiOf).filter(api => consented.includes(api))
  const others = (resources ?? []).filter(one => apiOf(one) === null && grant.resource.includes(one))
  const members = [member, isPrivate ? insider : null].flatMap(one => (one === null ? [] : [one.id]))
  return {
    account: grant.account,
    id: grant.id,
    name: shownNameOf(client),
    digest: credential.digest,
    status: 'active',
    policies: [{ id: grant.id, effect: 'allow', permissionGroups: groups, accounts: [grant.account] }],
    notBefore: null,
    expiresOn: credential.expiresAt,
    addressesIn: [],
    addressesNotIn: [],
    issuedOn: credential.createdAt,
    modifiedOn: grant.updatedAt,
    actor: {
      user: user.id,
      email: user.email,
      ...(isEmailVerified(user) && { isEmailVerified: true }),
      client: client.id,
      clientName: shownNameOf(client),
      ...(client.document !== undefined && { clientUrl: client.document.url }),
      grant: grant.id,
      end: family === null ? null : endDigestOf(family),
      members,
      scopes,
      apis,
      ...(others.length > 0 && { resources: others, memberships }),
    },
  }
}

/**
 * Returns the scopes that a token was issued for (RFC 6749 section 3.3), and its resources, null for all (RFC
 * 8707).
 */
function limitsOf({ data }: Credential): { scope: readonly string[]; resources: readonly string[] | null } {
  const { scope, aud } = (data ?? {}) as { readonly scope?: unknown; readonly aud?: unknown }
  const scopes = typeof scope === 'string' ? scope.split(' ') : []
  if (aud === undefined || aud === null) return { scope: scopes, resources: null }
  return { scope: scopes, resources: [aud].flat().map(String) }
}
