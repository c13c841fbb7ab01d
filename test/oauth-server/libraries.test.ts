// The OAuth clients that apps are mostly built with, from discovery to revocation, with each method of authentication and each store.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import type { TokenEndpointAuthMethod } from '../../src/store/records/oauth-client.ts'
import { startRedis } from '../help/redis.ts'
import { type App, scope, visit } from './app.ts'
import { authorize, type Browser, callback, type Site, startSite } from './site.ts'

const stores: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  SQLite: async () => 'sqlite::memory:',
  Redis: async t => (await startRedis(t)).url,
}

const methods = ['client_secret_basic', 'client_secret_post', 'none'] as const

/** What an app does, and what it found. */
type RegisteredMethod = Exclude<TokenEndpointAuthMethod, 'private_key_jwt'>

type Journey = (site: Site, app: App, browser: Browser) => Promise<Found>

interface Found {
  readonly subject: string
  readonly tokens: readonly string[]
  /** Whether the last access token was good, and then not any more. */
  readonly wasActive: boolean
  readonly isActive: boolean
}

async function withOpenidClient(site: Site, { client, secret }: App, browser: Browser): Promise<Found> {
  const authentications: Readonly<Record<RegisteredMethod, () => openid.ClientAuth>> = {
    client_secret_basic: () => openid.ClientSecretBasic(secret!),
    client_secret_post: () => openid.ClientSecretPost(secret!),
    none: openid.None,
  }
  const authentication = authentications[client.tokenEndpointAuthMethod as RegisteredMethod]()
  const config = await openid.discovery(new URL(site.issuer), client.id, undefined, authentication, {
    execute: [openid.allowInsecureRequests],
  })
  const pkceCodeVerifier = openid.randomPKCECodeVerifier()
  const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()]
  const url = openid.buildAuthorizationUrl(config, {
    ...{ redirect_uri: callback, scope, state: expectedState, nonce: expectedNonce },
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const back = await authorize(site, browser, url.pathname + url.search)
  const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true }
  const first = await openid.authorizationCodeGrant(config, back, checks)
  const { sub } = first.claims()!
  await openid.fetchUserInfo(config, first.access_token, sub)
  const next = await openid.refreshTokenGrant(config, first.refresh_token!)
  const { active: wasActive } = await openid.tokenIntrospection(config, next.access_token)
  await openid.tokenRevocation(config, next.refresh_token!)
  const { active: isActive } = await openid.tokenIntrospection(config, next.access_token)
  const tokens = [first.access_token, next.access_token, first.refresh_token!, next.refresh_token!]
  return { subject: sub, tokens, wasActive, isActive }
}

async function withOauth4webapi(site: Site, { client, secret }: App, browser: Browser): Promise<Found> {
  const authentications: Readonly<Record<RegisteredMethod, () => oauth.ClientAuth>> = {
    client_secret_basic: () => oauth.ClientSecretBasic(secret!),
    client_secret_post: () => oauth.ClientSecretPost(secret!),
    none: oauth.None,
  }
  const as = authentications[client.tokenEndpointAuthMethod as RegisteredMethod]()
  const insecure = { [oauth.allowInsecureRequests]: true }
  const issuer = new URL(site.issuer)
  const metadata = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
  const server = await oauth.processDiscoveryResponse(issuer, metadata)
  const app: oauth.Client = { client_id: client.id, id_token_signed_response_alg: 'ES256' }
  const verifier = oauth.generateRandomCodeVerifier()
  const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()]
  const url = new URL(server.authorization_endpoint!)
  url.search = new URLSearchParams({
    ...{ client_id: client.id, response_type: 'code', redirect_uri: callback, scope, state, nonce },
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString()
  const back = await authorize(site, browser, url.pathname + url.search)
  const params = oauth.validateAuthResponse(server, app, back, state)
  const exchanged = await oauth.authorizationCodeGrantRequest(
    server,
    app,
    as,
    params,
    callback,
    verifier,
    insecure,
  )
  const expected = { expectedNonce: nonce, requireIdToken: true }
  const first = await oauth.processAuthorizationCodeResponse(server, app, exchanged, expected)
  await oauth.validateApplicationLevelSignature(server, exchanged, insecure)
  const { sub } = oauth.getValidatedIdTokenClaims(first)!
  const asked = await oauth.userInfoRequest(server, app, first.access_token, insecure)
  await oauth.processUserInfoResponse(server, app, sub, asked)
  const refreshed = await oauth.refreshTokenGrantRequest(server, app, as, first.refresh_token!, insecure)
  const next = await oauth.processRefreshTokenResponse(server, app, refreshed)
  const isActive = async () => {
    const response = await oauth.introspectionRequest(server, app, as, next.access_token, insecure)
    return (await oauth.processIntrospectionResponse(server, app, response)).active
  }
  const wasActive = await isActive()
  const revoked = await oauth.revocationRequest(server, app, as, next.access_token, insecure)
  await oauth.processRevocationResponse(revoked)
  const tokens = [first.access_token, next.access_token, first.refresh_token!, next.refresh_token!]
  return { subject: sub, tokens, wasActive, isActive: await isActive() }
}

const libraries: Readonly<Record<string, Journey>> = {
  'openid-client': withOpenidClient,
  oauth4webapi: withOauth4webapi,
}

for (const [store, open] of Object.entries(stores))
  for (const [library, journey] of Object.entries(libraries))
    for (const method of methods)
      test(`${store}: ${library} goes all the way as a client with ${method}`, async t => {
        const site = await startSite(t, { url: await open(t) })
        const { app, browser, user } = await visit(site, { tokenEndpointAuthMethod: method })
        const found = await journey(site, app, browser)
        assert.equal(found.subject, user.id)
        assert.equal(new Set(found.tokens).size, 4)
        assert.deepEqual([found.wasActive, found.isActive], [true, false])
        assert.deepEqual(site.bugs, [])
      })
