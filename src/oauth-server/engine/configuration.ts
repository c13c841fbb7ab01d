// The library's settings: what it supports, how long things are valid, and who decides.

import { minute, second } from '../../base/units.ts'
import { oauthScopes } from '../../permissions/scopes.ts'
import { consentPath } from '../../pages/parts/paths.ts'
import { cookieNames } from '../http/cookies.ts'
import { isAllowedOrigin } from '../http/cors.ts'
import { paths } from '../http/paths.ts'
import type { Guard } from '../http/unavailable.ts'
import { adapters } from './adapter.ts'
import type { Decisions } from './decisions.ts'
import type { EngineParts } from './engine-parts.ts'
import type { Context, Library, LibraryClient } from './library.ts'
import { recordOf } from './client-metadata.ts'
import { prompts } from './prompts.ts'
import { Reason } from './reasons.ts'
import { type Confirmation, currentRequest } from './request.ts'

const interactionLife = 3_600
const idTokenLife = 3_600

interface ConfigurationParts {
  readonly library: Library
  readonly decisions: Decisions
  readonly guard: Guard
}

export function configurationOf(
  { issuer, keys, lifetimes, store, clients, hasDocuments }: EngineParts,
  { library, decisions, guard }: ConfigurationParts,
): object {
  const { Provider, errors, interactionPolicy } = library
  const context = () => Provider.ctx!
  return {
    ...fixedSettings(),
    ...authenticationOf(hasDocuments, errors),
    adapter: adapters({ store, clients, context, errors, guard, admit: request => decisions.admit(request) }),
    clientBasedCORS: ({ oidc }: Context, origin: string, client: LibraryClient) =>
      isAllowedOrigin(origin, recordOf(client), oidc.route),
    cookies: cookiesOf(issuer),
    // Not a parameter, but a check that comes once the client and its redirect URI are known to be valid.
    extraParams: { gatehouse_rules: async (context: Context) => decisions.examine(context) },
    features: featuresOf(decisions),
    findAccount: (_: Context, id: string) => guard(() => decisions.findAccount(id)),
    interactions: {
      policy: prompts(interactionPolicy, {
        consent: ({ oidc }) => oidc.grant?.jti === undefined && currentRequest().confirmation === null,
        confirmation: mustConfirm('shared'),
        newHost: mustConfirm('host not seen'),
      }),
      url: async (_: Context, { uid }: { uid: string }) => consentPath(uid),
    },
    jwks: { keys },
    loadExistingGrant: (context: Context) => guard(() => decisions.loadGrant(context)),
    ttl: lifetimesOf(lifetimes),
  }
}

const algorithms = ['ES256']
const ofEmail = ['email', 'email_verified']
const ofProfile = ['name', 'given_name', 'family_name']

function fixedSettings(): object {
  return {
    allowOmittingSingleRegisteredRedirectUri: false,
    claims: {
      openid: ['sub', 'account'],
      email: ofEmail,
      profile: ofProfile,
      'user.read': [...ofEmail, ...ofProfile],
      auth_time: null,
      iss: null,
    },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    clockTolerance: 0,
    // Many apps read nothing but the ID token.
    conformIdTokenClaims: false,
    enabledJWA: {
      idTokenSigningAlgValues: algorithms,
      userinfoSigningAlgValues: algorithms,
      clientAuthSigningAlgValues: algorithms,
      requestObjectSigningAlgValues: algorithms,
      introspectionSigningAlgValues: algorithms,
      authorizationSigningAlgValues: algorithms,
      dPoPSigningAlgValues: algorithms,
      attestSigningAlgValues: algorithms,
    },
    expiresWithSession: () => false,
    extraClientMetadata: { properties: ['registered'] },
    issueRefreshToken: async (
      _: Context,
      client: LibraryClient,
      { scopes }: { scopes: ReadonlySet<string> },
    ) => client.grantTypeAllowed('refresh_token') && scopes.has('offline_access'),
    pkce: { required: (_: Context, client: LibraryClient) => client.clientAuthMethod === 'none' },
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
    scopes: oauthScopes.map(({ id }) => id),
  }
}

/** Ms that an assertion may be valid for: as long it is stored, so that it works once. */
const maxAssertion = 10 * minute

function authenticationOf(hasDocuments: boolean, { InvalidClientAuth }: Library['errors']): object {
  const registered = ['client_secret_basic', 'client_secret_post', 'none']
  return {
    clientAuthMethods: hasDocuments ? [...registered, 'private_key_jwt'] : registered,
    assertJwtClientAuthClaimsAndHeader: async (_: Context, { exp }: { exp: number }) => {
      if (exp * second <= Date.now() + maxAssertion) return
      throw new InvalidClientAuth({
        cause: new Reason('exp of the client_assertion is more than 10 minutes away'),
      })
    },
    // Keys of clients come with their documents.
    fetch: async () => Promise.reject(new Error('the library must not fetch anything')),
  }
}

function cookiesOf(issuer: string): object {
  const options = { httpOnly: true, sameSite: 'lax', secure: issuer.startsWith('https:') }
  return { names: { session: 'unused', ...cookieNames(issuer) }, long: options, short: options }
}

function featuresOf(decisions: Decisions): object {
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    introspection: {
      enabled: true,
      allowedPolicy: async (_: Context, client: LibraryClient, token: { clientId?: string }) =>
        decisions.mayIntrospect(client, token),
    },
    pushedAuthorizationRequests: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: async (_: Context, __: unknown, oneOf?: readonly string[]) => oneOf?.[0],
      getResourceServerInfo: async (_: Context, resource: string) => decisions.resource(resource),
      useGrantedResource: async () => true,
    },
    revocation: { enabled: true, allowedPolicy: isOwn },
    rpInitiatedLogout: { enabled: false },
  }
}

async function isOwn(
  _: Context,
  { clientId }: LibraryClient,
  token: { clientId?: string },
): Promise<boolean> {
  return token.clientId === clientId
}

function mustConfirm(reason: Confirmation): () => boolean {
  return () => currentRequest().confirmation === reason
}

function lifetimesOf({
  accessToken,
  code,
  refreshToken,
  refreshTokenMost,
}: EngineParts['lifetimes']): object {
  return {
    AccessToken: accessToken / second,
    AuthorizationCode: code / second,
    Grant: interactionLife,
    IdToken: idTokenLife,
    Interaction: interactionLife,
    RefreshToken: (_: Context, { iiat }: { iiat: number }) => {
      const left = iiat + refreshTokenMost / second - Math.floor(Date.now() / second)
      return Math.max(1, Math.min(refreshToken / second, left))
    },
    Session: interactionLife,
  }
}
