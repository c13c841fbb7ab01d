// The engine of the authorization server, with every decision that is ours put into it. It is loaded when the first request comes.

import { clientKey } from '../../base/address/client-key.ts'
import { newId } from '../../base/id.ts'
import type { Config } from '../../config/config.ts'
import type { Logger } from '../../log/log.ts'
import { limitOf } from '../../limits/limit.ts'
import type { Limiter } from '../../limits/limiter.ts'
import { oauthScopes } from '../../permissions/scopes.ts'
import type { OAuthClient } from '../../store/oauth-client.ts'
import type { OAuthGrant } from '../../store/oauth-grant.ts'
import type { User } from '../../store/people.ts'
import type { Json } from '../../store/credential.ts'
import { type Store, StoreUnreachable } from '../../store/store.ts'
import { mintToken } from '../../tokens/token.ts'
import { consentPath } from '../../pages/paths.ts'
import { adapters, grantPayload, type Registered } from './adapter.ts'
import type { ClientDirectory } from '../client-directory.ts'
import type { ClientSecrets } from '../client-secrets.ts'
import { Consents } from './consents.ts'
import { cookieNames } from '../cookies.ts'
import { paths } from '../paths.ts'
import { prompts } from './prompts.ts'
import { isShared, redirectMatches } from './redirect.ts'
import { type EngineFailure, shown } from './reasons.ts'
import { factsOf, type RequestFacts } from './request-facts.ts'
import { faultOfScopes, scopesOf } from './request-rules.ts'
import type { Context, EngineModule, InteractionResult, Provider } from './engine-types.ts'

interface EngineParts {
  readonly issuer: string
  readonly lifetimes: Config['oauth']['lifetimes']
  /** Private JWKs; the one that signs first. */
  readonly keys: readonly Readonly<Record<string, Json>>[]
  readonly store: Store
  readonly clients: ClientDirectory
  readonly secrets: ClientSecrets
  readonly limiter: Limiter
  /** Whether a resource indicator names an API here. */
  readonly isResource: (resource: string) => boolean
  readonly log: Logger
  /** What goes around each request. */
  readonly around: (context: Context, next: () => Promise<void>) => Promise<void>
}

export type Engine = Provider

/** Loads the engine and sets it up. */
export async function openEngine(parts: EngineParts): Promise<Engine> {
  const oidc = await load(parts.log)
  const decisions = new Decisions(parts, oidc)
  const provider = new oidc.Provider(parts.issuer, decisions.configuration())
  // The issuer says where it is reached, not the connection.
  provider.proxy = true
  decisions.shape(provider)
  provider.use(parts.around)
  provider.on('error', (err: unknown) =>
    parts.log.error({ err }, 'authorization server failed: internal error'),
  )
  for (const event of failureEvents)
    provider.on(event, (context: Context, failure: EngineFailure) => {
      factsOf(context.req).failure = inItsName(context, failure)
    })
  provider.on('server_error', (context: Context, err: EngineFailure) => {
    factsOf(context.req).failure = { error: 'server_error' }
    parts.log.error(
      { err, ray: factsOf(context.req).sender.ray },
      'authorization server failed: internal error',
    )
  })
  return provider
}

/** Names a failure as RFC 6749 section 5.2 does, where the engine has another name for it. */
function inItsName(context: Context, failure: EngineFailure): EngineFailure {
  const { error_description } = failure
  if (error_description !== 'requested grant type is not allowed for this client') return failure
  const named = {
    error: 'unauthorized_client',
    error_description: 'the client has not registered this grant type',
  }
  context.body = { ...named }
  return named
}

const failureEvents = [
  'authorization.error',
  'grant.error',
  'revocation.error',
  'introspection.error',
  'userinfo.error',
]

const runtimeNotice = 'Unsupported runtime'

/** Its authors test the even releases of Node once they are LTS, and it warns of every other on the console. Ours are held by the tests here. */
async function load(log: Logger): Promise<EngineModule> {
  const { warn } = console
  console.warn = (...words: unknown[]) => {
    if (String(words[0]).includes(runtimeNotice))
      log.debug(
        { node: process.version },
        'oidc-provider is not tested on this version of Node by its authors',
      )
    else warn(...words)
  }
  try {
    return await import('oidc-provider')
  } finally {
    console.warn = warn
  }
}

const second = 1000
const codes = oauthScopes.map(({ id }) => id)
const scopesOfResources = codes.filter(scope => scope !== 'openid' && scope !== 'offline_access')
/** How long a person may take to sign in and consent, in seconds. */
const interactionLife = 3_600
/** Seconds that an ID token is good. */
const idTokenLife = 3_600

/** Requests that wait for a person, of each of whom the store keeps something; an office of people may share an address. */
const begun = limitOf('authorization requests', 300, { kind: 'sliding', period: 600_000 })

class Decisions {
  readonly #parts: EngineParts
  readonly #oidc: EngineModule
  readonly #consents: Consents

  constructor(parts: EngineParts, oidc: EngineModule) {
    this.#parts = parts
    this.#oidc = oidc
    this.#consents = new Consents(parts.store)
  }

  configuration(): object {
    const { issuer, keys, lifetimes, store, clients } = this.#parts
    const { Provider, errors, interactionPolicy } = this.#oidc
    const isSecure = issuer.startsWith('https:')
    const cookie = { httpOnly: true, sameSite: 'lax', secure: isSecure }
    return {
      adapter: adapters({
        store,
        clients,
        context: () => Provider.ctx,
        refusal: detail => new errors.InvalidGrant({ detail }),
        signedOut: () => new errors.LoginRequired('the person signed out meanwhile'),
        unavailable: () => this.#unavailable(),
        admit: facts => this.#admit(facts),
      }),
      allowOmittingSingleRegisteredRedirectUri: false,
      claims: {
        openid: ['sub'],
        'user.read': ['email', 'name', 'given_name', 'family_name'],
        auth_time: null,
        iss: null,
      },
      clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
      clientBasedCORS: (_: Context, origin: string, { registered }: { registered: Registered }) =>
        registered.allowedCorsOrigins.includes(origin),
      clientDefaults: { id_token_signed_response_alg: 'ES256' },
      clockTolerance: 0,
      cookies: {
        names: {
          session: 'unused',
          ...cookieNames(issuer),
        },
        long: cookie,
        short: cookie,
      },
      enabledJWA: {
        idTokenSigningAlgValues: ['ES256'],
        userinfoSigningAlgValues: ['ES256'],
        clientAuthSigningAlgValues: ['ES256'],
        requestObjectSigningAlgValues: ['ES256'],
        introspectionSigningAlgValues: ['ES256'],
        authorizationSigningAlgValues: ['ES256'],
        dPoPSigningAlgValues: ['ES256'],
        attestSigningAlgValues: ['ES256'],
      },
      expiresWithSession: () => false,
      extraClientMetadata: { properties: ['registered'] },
      // Not a parameter: what has to be looked at once the client and its redirect URI are known to be good.
      extraParams: { gatehouse_rules: async (context: Context) => this.#examine(context) },
      features: {
        devInteractions: { enabled: false },
        dPoP: { enabled: false },
        introspection: { enabled: true, allowedPolicy: isOwn },
        pushedAuthorizationRequests: { enabled: false },
        resourceIndicators: {
          enabled: true,
          defaultResource: async (_: Context, __: unknown, oneOf?: readonly string[]) => oneOf?.[0],
          getResourceServerInfo: async (_: Context, resource: string) => this.#resource(resource),
          useGrantedResource: async () => true,
        },
        revocation: { enabled: true, allowedPolicy: isOwn },
        rpInitiatedLogout: { enabled: false },
      },
      findAccount: (context: Context, sub: string) => this.#guarded(() => this.#findAccount(context, sub)),
      interactions: {
        policy: prompts(interactionPolicy, { consent: needsConsent, confirmation: needsConfirmation }),
        url: async (_: Context, { uid }: { uid: string }) => consentPath(uid),
      },
      issueRefreshToken: async (
        _: Context,
        client: { grantTypeAllowed(type: string): boolean },
        { scopes }: { scopes: ReadonlySet<string> },
      ) => client.grantTypeAllowed('refresh_token') && scopes.has('offline_access'),
      jwks: { keys },
      loadExistingGrant: (context: Context) => this.#guarded(() => this.#loadGrant(context)),
      pkce: {
        required: (_: Context, client: { clientAuthMethod: string }) => client.clientAuthMethod === 'none',
      },
      renderError: async (context: Context, out: object) => {
        context.type = 'json'
        context.body = out
      },
      responseTypes: ['code'],
      revokeGrantPolicy: () => false,
      rotateRefreshToken: true,
      routes: {
        authorization: paths.authorization,
        token: paths.token,
        revocation: paths.revocation,
        introspection: paths.introspection,
        userinfo: paths.userinfo,
        jwks: paths.jwks,
      },
      scopes: codes,
      ttl: {
        AccessToken: lifetimes.accessToken / second,
        AuthorizationCode: lifetimes.code / second,
        Grant: interactionLife,
        IdToken: idTokenLife,
        Interaction: interactionLife,
        RefreshToken: (_: Context, { iiat }: { iiat: number }) => {
          const left = iiat + lifetimes.refreshTokenMost / second - Math.floor(Date.now() / second)
          return Math.max(1, Math.min(lifetimes.refreshToken / second, left))
        },
        Session: interactionLife,
      },
    }
  }

  /** Puts our rules in place of those that no setting changes. */
  shape(provider: Provider): void {
    const { Client, Session, AccessToken, RefreshToken, Grant } = provider
    const self = this
    Object.assign(Client.prototype, {
      redirectUriAllowed(this: { registered: Registered }, uri: unknown): boolean {
        return typeof uri === 'string' && redirectMatches(uri, this.registered.redirectUris)
      },
      compareClientSecret(value: string): Promise<boolean> {
        return self.#guarded(() => self.#compareSecret(value))
      },
    })
    Object.assign(AccessToken.prototype, {
      generateTokenId(this: { format: string }): string {
        this.format = 'opaque'
        return mintToken('svco_').value
      },
    })
    Object.assign(RefreshToken.prototype, { generateTokenId: () => mintToken('svcr_').value })
    // Which resources a consent covers was looked at when the code was asked for.
    Object.assign(Grant.prototype, {
      getResourceScope(this: GrantFields): string {
        return this.openid?.scope ?? ''
      },
    })
    // Who is signed in is known already; the engine keeps no session of its own, and no interaction makes one.
    Object.assign(Session.prototype, { loginAccount: () => {} })
    Session.get = async context => {
      const { person } = factsOf(context.req)
      const session = new Session({ jti: 'mirrored', uid: 'mirrored' })
      if (person !== null)
        Object.assign(session, { accountId: person.user, loginTs: Math.floor(person.signedInAt / second) })
      session.destroyed = true
      return session
    }
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw error instanceof StoreUnreachable ? this.#unavailable() : error
    }
  }

  #unavailable(): Error {
    const { TemporarilyUnavailable } = this.#oidc.errors
    const error = new TemporarilyUnavailable('the store of the server cannot be reached; try again')
    error.status = error.statusCode = 503
    return error
  }

  async #admit(facts: RequestFacts): Promise<void> {
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

  #examine(context: Context): void {
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

  async #resource(resource: string): Promise<object> {
    if (!this.#parts.isResource(resource))
      throw new this.#oidc.errors.InvalidTarget(
        `resource sent: ${shown(resource)}; it names no API of this server`,
      )
    return { scope: scopesOfResources.join(' '), audience: resource, accessTokenFormat: 'opaque' }
  }

  async #findAccount({ req }: Context, sub: string): Promise<object | undefined> {
    const user = await factsOf(req).findUser(sub, this.#parts.store)
    if (user === null) return undefined
    return { accountId: sub, claims: async () => claimsOf(user) }
  }

  async #loadGrant(context: Context): Promise<object | undefined> {
    const facts = factsOf(context.req)
    const { account, client, params, result } = context.oidc
    const record = facts.client
    if (account === undefined || client === undefined || record === null) return undefined
    const user = account.accountId
    const consented = (result as Result | undefined)?.consent
    const asked = {
      scopes: String(params.scope ?? '').split(' '),
      resource: [params.resource ?? []].flat(),
    }
    const grant =
      consented === undefined
        ? await this.#consents.covering(record, user, asked)
        : ((await this.#parts.store.oauthGrants.get(consented.account, consented.grant))?.record ?? null)
    if (grant === null || grant.user !== user || grant.client !== record.id) return undefined
    // Whoever begins a request in the name of a public client gets its code by such a URI (RFC 8252 section 8.6).
    if (consented === undefined && isPublic(record) && isShared(String(params.redirect_uri))) {
      facts.mustConfirm = true
      return undefined
    }
    facts.user = user
    facts.account = grant.account
    facts.isGranted = true
    return newGrant(context, grant, record)
  }

  async #compareSecret(value: string): Promise<boolean> {
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

interface GrantFields {
  readonly openid?: { readonly scope?: string }
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

function needsConsent({ req }: Context): boolean {
  const { isGranted, mustConfirm } = factsOf(req)
  return !isGranted && !mustConfirm
}

function needsConfirmation({ req }: Context): boolean {
  return factsOf(req).mustConfirm
}

function isPublic({ tokenEndpointAuthMethod }: OAuthClient): boolean {
  return tokenEndpointAuthMethod === 'none'
}

async function isOwn(_: Context, { clientId }: { clientId: string }, token: { clientId?: string }) {
  return token.clientId === clientId
}

function claimsOf({ id, email, firstName, lastName }: User): object {
  const names = [firstName, lastName].filter(name => name !== null)
  return {
    sub: id,
    email,
    ...(firstName !== null && { given_name: firstName }),
    ...(lastName !== null && { family_name: lastName }),
    ...(names.length > 0 && { name: names.join(' ') }),
  }
}
