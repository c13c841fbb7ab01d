// What is ours to decide while the engine works on a request: who it is for, what they have allowed, which secret is right, and what is too much.

import { clientKey } from '../../net/address/client-key.ts'
import { newId } from '../../base/ids/id.ts'
import { limitOf } from '../../limits/limit.ts'
import { oauthScopes } from '../../permissions/scopes.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import { isEmailVerified, type User } from '../../store/records/people.ts'
import { StoreUnreachable } from '../../store/contract/store.ts'
import { grantPayload, type Registered } from './adapter.ts'
import { Consents } from './consents.ts'
import { isShared } from './redirect.ts'
import { shown } from './reasons.ts'
import { factsOf, type MustConfirm, type RequestFacts } from './request-facts.ts'
import { faultOfScopes, scopesOf } from './request-rules.ts'
import type { Context, EngineModule, InteractionResult, Provider } from './engine-types.ts'
import type { EngineParts } from './engine-parts.ts'

const second = 1000
const scopesOfResources = oauthScopes
  .map(({ id }) => id)
  .filter(scope => scope !== 'openid' && scope !== 'offline_access')

/** Requests that wait for a person, of each of whom the store keeps something; an office of people may share an address. */
const begun = limitOf('authorization requests', 300, { kind: 'sliding', period: 600_000 })

export class Decisions {
  readonly #parts: EngineParts
  readonly #oidc: EngineModule
  readonly #consents: Consents

  constructor(parts: EngineParts, oidc: EngineModule) {
    this.#parts = parts
    this.#oidc = oidc
    this.#consents = new Consents(parts.store)
  }

  /** Does work of the store, and has its being unreachable reported in the words of OAuth. */
  async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw error instanceof StoreUnreachable ? this.unavailable() : error
    }
  }

  /** Makes the error for a store that cannot be reached. */
  unavailable(): Error {
    const { TemporarilyUnavailable } = this.#oidc.errors
    const error = new TemporarilyUnavailable('the store of the server cannot be reached; try again')
    error.status = error.statusCode = 503
    return error
  }

  /** Counts a request that is going to wait for a person; rejects with the error for one that is too many. */
  async admit(facts: RequestFacts): Promise<void> {
    const { person, sender } = facts
    const key = person?.user ?? clientKey(sender.address ?? sender.peer)
    const { isAllowed, wait } = await this.#parts.limiter.spend(begun, key)
    if (isAllowed) return
    facts.isThrottled = true
    const seconds = Math.max(1, Math.ceil(wait / second))
    const { TemporarilyUnavailable } = this.#oidc.errors
    throw new TemporarilyUnavailable(
      `too many requests of this person or address wait for a decision; try again in ${seconds} s`,
    )
  }

  /** Looks at what an authorization request asks for, once its client and redirect URI are known to be good; throws the error for it. */
  examine(context: Context): void {
    const { errors } = this.#oidc
    const { client, params } = context.oidc
    const { refused } = factsOf(context.req)
    if (refused !== null)
      throw new errors.UnsupportedResponseMode(`response_mode sent: ${shown(refused)}; supported: query`)
    const { scopes: registered } = client!.registered as Registered
    const { scope } = context.query
    const scopes = scopesOf(typeof scope === 'string' ? scope : undefined, registered)
    const fault = faultOfScopes(scopes, registered)
    if (fault !== null) throw new errors.InvalidScope(fault.description)
    // The engine leaves out offline_access where no consent is asked for, and what it does not know.
    params.scope = scopes.join(' ')
  }

  /** Returns what a resource indicator stands for; rejects with `invalid_target` for one that names no API here. */
  async resource(resource: string): Promise<object> {
    if (this.#parts.apiOf(resource) === null)
      throw new this.#oidc.errors.InvalidTarget(
        `resource sent: ${shown(resource)}; it names no API of this server`,
      )
    return { scope: scopesOfResources.join(' '), audience: resource, accessTokenFormat: 'opaque' }
  }

  /** Finds a user, as the engine wants one. */
  async findAccount({ req }: Context, sub: string): Promise<object | undefined> {
    const user = await factsOf(req).findUser(sub, this.#parts.store)
    if (user === null) return undefined
    return { accountId: sub, claims: async () => claimsOf(user) }
  }

  /** Finds the consent that covers a request, or that the person has just given; undefined where they have to be asked. */
  async loadGrant(context: Context): Promise<object | undefined> {
    const facts = factsOf(context.req)
    const { account, client, params, result } = context.oidc
    const record = facts.client
    if (account === undefined || client === undefined || record === null) return undefined
    const user = account.accountId
    const consented = (result as Result | undefined)?.consent
    const asked = {
      scopes: String(params.scope ?? '').split(' '),
      resource: [params.resource ?? []].flat(),
      redirectUri: String(params.redirect_uri),
    }
    if (consented === undefined) {
      const covering = await this.#consents.covering(record, user, asked)
      if (covering === null) return undefined
      facts.mustConfirm = confirmationOf(record, asked.redirectUri, covering.isHostSeen)
      return facts.mustConfirm === null ? this.#granted(context, covering.grant, record) : undefined
    }
    const kept = await this.#parts.store.oauthGrants.get(consented.account, consented.grant)
    if (kept === null || kept.record.user !== user || kept.record.client !== record.id) return undefined
    return this.#granted(context, kept.record, record)
  }

  #granted(context: Context, grant: OAuthGrant, client: OAuthClient): object {
    const facts = factsOf(context.req)
    facts.user = grant.user
    facts.account = grant.account
    facts.isGranted = true
    return newGrant(context, grant, client)
  }

  /** Whether the client has shown one of its secrets, in the way that it has registered; rejects with the error for too many wrong ones. */
  async compareSecret(value: string): Promise<boolean> {
    const { Provider, errors } = this.#oidc
    const context = Provider.ctx!
    const facts = factsOf(context.req)
    const client = facts.client!
    const used = context.headers.authorization === undefined ? 'client_secret_post' : 'client_secret_basic'
    if (used !== client.tokenEndpointAuthMethod) {
      facts.reason = `client authentication sent: ${used}; registered: ${client.tokenEndpointAuthMethod}`
      throw new errors.InvalidClientAuth({ detail: facts.reason })
    }
    const verdict = await this.#parts.secrets.judge(client, value)
    if (verdict.kind === 'right') return (facts.isAuthenticated = true)
    if (verdict.kind === 'wrong') {
      facts.reason = verdict.reason
      return false
    }
    facts.isThrottled = true
    context.set('retry-after', String(verdict.wait))
    const error = new errors.InvalidClientAuth({ detail: 'too many wrong secrets' })
    error.status = error.statusCode = 429
    error.error_description = `too many wrong secrets for this client; try again in ${verdict.wait} s`
    throw error
  }
}

/** What a person decided, as it is kept with the interaction. */
interface Result extends InteractionResult {
  readonly consent?: { readonly account: string; readonly grant: string }
}

/** Makes the engine's form of a consent, for what will be given for one code. */
function newGrant(context: Context, grant: OAuthGrant, client: OAuthClient): object {
  const { account, id } = grant
  const { Grant } = (context.oidc as unknown as { readonly provider: Provider }).provider
  return new Grant(grantPayload(grant, client, { account, grant: id, family: newId() }))
}

/** Returns why a person has to confirm what they have allowed before; null where they need not. */
function confirmationOf(client: OAuthClient, redirectUri: string, isHostSeen: boolean): MustConfirm | null {
  // Whoever begins a request in the name of a public client gets its code by such a URI (RFC 8252 section 8.6).
  if (isPublic(client) && isShared(redirectUri)) return 'shared'
  // It may have been added since, by who got hold of the client.
  return isHostSeen ? null : 'host not seen'
}

function isPublic({ tokenEndpointAuthMethod }: OAuthClient): boolean {
  return tokenEndpointAuthMethod === 'none'
}

/** Returns what an app is told of a user. Many take an address for who somebody is, whatever `email_verified` says: they get one that is verified, or none. */
function claimsOf(user: User): object {
  const { id, email, firstName, lastName } = user
  const names = [firstName, lastName].filter(name => name !== null)
  return {
    sub: id,
    ...(isEmailVerified(user) && { email, email_verified: true }),
    ...(firstName !== null && { given_name: firstName }),
    ...(lastName !== null && { family_name: lastName }),
    ...(names.length > 0 && { name: names.join(' ') }),
  }
}
