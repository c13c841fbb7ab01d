// The settings of the engine: what it supports, how long things are good, and whom it asks.

import { oauthScopes } from '../../permissions/scopes.ts'
import { consentPath } from '../../pages/parts/paths.ts'
import { adapters, type Registered } from './adapter.ts'
import { cookieNames } from '../cookies.ts'
import { paths } from '../paths.ts'
import { prompts } from './prompts.ts'
import { factsOf, type MustConfirm } from './request-facts.ts'
import type { Context, EngineModule } from './engine-types.ts'
import type { Decisions } from './decisions.ts'
import type { EngineParts } from './engine-parts.ts'

const second = 1000
const codes = oauthScopes.map(({ id }) => id)
/** How long a person may take to sign in and consent, in seconds. */
const interactionLife = 3_600
/** Seconds that an ID token is good. */
const idTokenLife = 3_600

/** Returns the configuration of a provider whose decisions are these. */
export function configurationOf(
  parts: EngineParts,
  { Provider, errors, interactionPolicy }: EngineModule,
  decisions: Decisions,
): object {
  const { issuer, keys, lifetimes, store, clients } = parts
  const isSecure = issuer.startsWith('https:')
  const cookie = { httpOnly: true, sameSite: 'lax', secure: isSecure }
  return {
    adapter: adapters({
      store,
      clients,
      context: () => Provider.ctx,
      refusal: detail => new errors.InvalidGrant({ detail }),
      signedOut: () => new errors.LoginRequired('the person signed out meanwhile'),
      unavailable: () => decisions.unavailable(),
      admit: facts => decisions.admit(facts),
    }),
    allowOmittingSingleRegisteredRedirectUri: false,
    claims: {
      openid: ['sub'],
      'user.read': ['email', 'email_verified', 'name', 'given_name', 'family_name'],
      auth_time: null,
      iss: null,
    },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    // What a token is good for is told to servers, not to pages.
    clientBasedCORS: ({ oidc }: Context, origin: string, { registered }: { registered: Registered }) =>
      oidc.route !== 'introspection' && registered.allowedCorsOrigins.includes(origin),
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
    extraParams: { gatehouse_rules: async (context: Context) => decisions.examine(context) },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      introspection: { enabled: true, allowedPolicy: isOwn },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: async (_: Context, __: unknown, oneOf?: readonly string[]) => oneOf?.[0],
        getResourceServerInfo: async (_: Context, resource: string) => decisions.resource(resource),
        useGrantedResource: async () => true,
      },
      revocation: { enabled: true, allowedPolicy: isOwn },
      rpInitiatedLogout: { enabled: false },
    },
    findAccount: (context: Context, sub: string) =>
      decisions.guarded(() => decisions.findAccount(context, sub)),
    interactions: {
      policy: prompts(interactionPolicy, {
        consent: needsConsent,
        confirmation: mustConfirm('shared'),
        newHost: mustConfirm('host not seen'),
      }),
      url: async (_: Context, { uid }: { uid: string }) => consentPath(uid),
    },
    issueRefreshToken: async (
      _: Context,
      client: { grantTypeAllowed(type: string): boolean },
      { scopes }: { scopes: ReadonlySet<string> },
    ) => client.grantTypeAllowed('refresh_token') && scopes.has('offline_access'),
    jwks: { keys },
    loadExistingGrant: (context: Context) => decisions.guarded(() => decisions.loadGrant(context)),
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

function needsConsent({ req }: Context): boolean {
  const { isGranted, mustConfirm } = factsOf(req)
  return !isGranted && mustConfirm === null
}

function mustConfirm(reason: MustConfirm): (context: Context) => boolean {
  return ({ req }) => factsOf(req).mustConfirm === reason
}

async function isOwn(_: Context, { clientId }: { clientId: string }, token: { clientId?: string }) {
  return token.clientId === clientId
}
