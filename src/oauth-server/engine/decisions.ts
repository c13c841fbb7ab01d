// The decisions that the library leaves to this server.

import { second } from '../../base/units.ts'
import { newId } from '../../base/ids/id.ts'
import { limitOf } from '../../limits/limit.ts'
import { oauthScopes } from '../../permissions/scopes.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import { everybody, isEmailVerified, type User } from '../../store/records/people.ts'
import { grantPayload } from './grant-payload.ts'
import { Consents } from '../../oauth/grants/consents.ts'
import type { EngineParts } from './engine-parts.ts'
import type { Context, InteractionResult, Library, LibraryClient } from './library.ts'
import { recordOf } from './client-metadata.ts'
import { Reason, valueText } from './reasons.ts'
import { isShared } from '../../oauth/clients/redirect-uri.ts'
import { type Confirmation, currentRequest, type OAuthRequest } from './request.ts'
import { faultOfScopes, scopesOf, usualScopesOf } from './scopes.ts'

/** To an app that wants its tokens bound to a key. */
export const noProofs = 'DPoP (RFC 9449) is not supported: tokens are bearer tokens'

const resourceScopes = oauthScopes
  .map(({ id }) => id)
  .filter(scope => scope !== 'openid' && scope !== 'offline_access')

/** Requests that wait for a person; people in an office may share an address. */
const waiting = limitOf('authorization requests', 300, { kind: 'sliding', period: 600_000 })

type DecisionParts = Pick<EngineParts, 'store' | 'limiter' | 'secrets' | 'apiOf' | 'routes'>

export class Decisions {
  readonly #parts: DecisionParts
  readonly #library: Library
  readonly #consents: Consents

  constructor(parts: DecisionParts, library: Library) {
    this.#parts = parts
    this.#library = library
    this.#consents = new Consents(parts.store, parts.apiOf)
  }

  async admit(request: OAuthRequest): Promise<void> {
    const { isAllowed, wait } = await this.#parts.limiter.spend(waiting, request.key)
    if (isAllowed) return
    const seconds = Math.max(1, Math.ceil(wait / second))
    const { TemporarilyUnavailable } = this.#library.errors
    const error = new TemporarilyUnavailable(
      `too many requests of this person or address wait for a decision; try again in ${seconds} s`,
    )
    error.status = error.statusCode = 429
    throw error
  }

  examine({ oidc, query }: Context): void {
    const { errors } = this.#library
    const { refusedMode } = currentRequest()
    if (refusedMode !== null)
      throw new errors.UnsupportedResponseMode(
        `response_mode sent: ${valueText(refusedMode)}; supported: query`,
      )
    if (query.dpop_jkt !== undefined) throw new errors.InvalidRequest(noProofs)
    const client = recordOf(oidc.client!)
    const { scopes: all } = this.#parts.routes
    const scopes = scopesOf(typeof query.scope === 'string' ? query.scope : undefined, usualScopesOf(client))
    const fault = faultOfScopes(scopes, client.scopes, all)
    if (fault !== null) throw new errors.InvalidScope(fault)
    // The library drops unknown scopes, and offline_access if no consent is asked for.
    oidc.params.scope = scopes.join(' ')
  }

  /** Rejects with `invalid_target` if the indicator names no API of this server, and no route. */
  async resource(resource: string): Promise<object> {
    const { apiOf, routes } = this.#parts
    const isApi = apiOf(resource) !== null
    const scopes = isApi ? resourceScopes : routes.at(resource)?.scopes
    if (scopes === undefined)
      throw new this.#library.errors.InvalidTarget(
        `resource sent: ${valueText(resource)}; it names no API of this server, and no route that takes access tokens`,
      )
    return { scope: scopes.join(' '), audience: resource, accessTokenFormat: 'opaque' }
  }

  /** Whether a client may introspect a token: its own, or one for the route that it serves. */
  mayIntrospect(client: LibraryClient, { clientId, aud }: Introspected): boolean {
    if (clientId === client.clientId) return true
    if (client.clientAuthMethod === 'none') return false
    const audience = [aud ?? []].flat()
    const isOf = (resource: string) => this.#parts.routes.at(resource)?.servers.includes(client.clientId)
    return (
      audience.length > 0 &&
      audience.every(resource => this.#parts.apiOf(resource) === null && isOf(resource))
    )
  }

  async findAccount(id: string): Promise<object | undefined> {
    const user = await currentRequest().findUser(id, this.#parts.store)
    return user === null ? undefined : { accountId: id, claims: async () => claimsOf(user, chosenAccount()) }
  }

  async loadGrant({ oidc }: Context): Promise<object | undefined> {
    const { account, client, params, result } = oidc
    if (account === undefined || client === undefined) return undefined
    const user = account.accountId
    const record = recordOf(client)
    const resource = [params.resource ?? []].flat()
    const grantOf = (grant: OAuthGrant) => this.#newGrant(oidc, grant, resource)
    const consent = (result as Result | undefined)?.consent
    if (consent !== undefined) {
      const grant = (await this.#parts.store.oauthGrants.get(consent.account, consent.grant))?.record
      return grant?.user === user && grant.client === record.id ? grantOf(grant) : undefined
    }
    const scopes = String(params.scope ?? '').split(' ')
    const redirectUri = String(params.redirect_uri)
    const covering = await this.#consents.covering(record, user, { scopes, resource, redirectUri })
    if (covering === null) return undefined
    const confirmation = confirmationOf(record, redirectUri, covering.isHostSeen)
    currentRequest().confirmation = confirmation
    return confirmation === null ? grantOf(covering.grant) : undefined
  }

  #newGrant(oidc: Context['oidc'], grant: OAuthGrant, resources: readonly string[]): object {
    const reference = { account: grant.account, grant: grant.id, family: newId() }
    return new oidc.provider.Grant(grantPayload(grant, recordOf(oidc.client!), { reference, resources }))
  }

  /** Throws if the client sent none of its secrets by its registered method. */
  async compareSecret(client: OAuthClient, value: string): Promise<boolean> {
    const { Provider, errors } = this.#library
    const context = Provider.ctx!
    const used = context.headers.authorization === undefined ? 'client_secret_post' : 'client_secret_basic'
    if (used !== client.tokenEndpointAuthMethod) {
      const error = new errors.InvalidClientAuth()
      error.error_description = `client authentication sent: ${used}; registered: ${client.tokenEndpointAuthMethod}`
      error.cause = new Reason(error.error_description)
      throw error
    }
    const verdict = await this.#parts.secrets.judge(client, value)
    if (verdict.kind === 'right') return (currentRequest().isAuthenticated = true)
    // Only the owner of the client may read the reason.
    if (verdict.kind === 'wrong') throw new errors.InvalidClientAuth({ cause: new Reason(verdict.reason) })
    context.set('retry-after', String(verdict.wait))
    const error = new errors.InvalidClientAuth()
    error.status = error.statusCode = 429
    error.error_description = `too many wrong secrets for this client; try again in ${verdict.wait} s`
    throw error
  }
}

/** `aud` is absent but for access tokens that are for certain resources. */
interface Introspected {
  readonly clientId?: string
  readonly aud?: string | readonly string[]
}

interface Result extends InteractionResult {
  readonly consent?: { readonly account: string; readonly grant: string }
}

function confirmationOf(client: OAuthClient, redirectUri: string, isHostSeen: boolean): Confirmation | null {
  const isPublic = client.tokenEndpointAuthMethod === 'none'
  // Any program gets a public client's code by such a URI (RFC 8252 section 8.6).
  if (isPublic && isShared(redirectUri)) return 'shared'
  // The URI may have been added since, by somebody who took over the client.
  return isHostSeen ? null : 'host not seen'
}

/** Returns the account of the consent that a code or token is of; null if its scopes concern none. */
export function chosenAccount({ exchange }: OAuthRequest = currentRequest()): string | null {
  const { account = everybody } = (exchange.presented?.data ?? {}) as { readonly account?: string }
  return account === everybody ? null : account
}

/** An address is verified or absent: many apps ignore `email_verified`. */
function claimsOf(user: User, account: string | null): object {
  const { id, email, firstName, lastName } = user
  const names = [firstName, lastName].filter(name => name !== null)
  return {
    sub: id,
    ...(account !== null && { account }),
    ...(isEmailVerified(user) && { email, email_verified: true }),
    ...(firstName !== null && { given_name: firstName }),
    ...(lastName !== null && { family_name: lastName }),
    ...(names.length > 0 && { name: names.join(' ') }),
  }
}
