// Apps made for OpenID Connect sign people in with the requests that they send by default: frameworks as they are, programs of other
// languages by what they send, in the order in which their languages write forms.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { Auth, type AuthConfig } from '@auth/core'
import * as openid from 'openid-client'
import { Strategy } from 'openid-client/passport'
import { everybody, type User } from '../../src/store/records/people.ts'
import { blocksOf, readPage, section } from '../help/docs.ts'
import { visit } from './app.ts'
import { authorize, callback, type Site, startSite } from './site.ts'

const scopes = ['openid', 'email', 'profile', 'offline_access']

const blocks = blocksOf(section(readPage('docs/oauth.md'), 'Sign people in to your apps'))

/** The block of the guide with the mark in it, for this issuer. */
function shownWith(mark: string, { issuer }: Site): string {
  const { text } = blocks.find(({ text }) => text.includes(mark))!
  return text.replaceAll('https://id.example.com', issuer)
}

/** Settings as INI and TOML write them. */
function settingsWith(mark: string, site: Site): ReadonlyMap<string, string> {
  const lines = shownWith(mark, site).matchAll(/^(\w+) = "?(.*?)"?$/gm)
  return new Map(Array.from(lines, ([, name, value]) => [name!, value!]))
}

/** Runs a module of the guide with what it imports, and without what it exports. */
async function runShown(mark: string, site: Site, given: Readonly<Record<string, unknown>>): Promise<void> {
  const text = shownWith(mark, site)
    .replace(/^import .*\n/gm, '')
    .replace(/^export /gm, '')
  await new AsyncFunction(...Object.keys(given), text)(...Object.values(given))
}

const AsyncFunction = (async () => {}).constructor as new (
  ...texts: readonly string[]
) => (...given: readonly unknown[]) => Promise<unknown>

function environmentOf({ id, secret }: { readonly id: string; readonly secret: string }) {
  return { env: { CLIENT_ID: id, CLIENT_SECRET: secret } }
}

async function visitProven(site: Site, redirectUri: string, settings = {}) {
  const visitor = await visit(site, { scopes, redirectUris: [redirectUri], ...settings })
  const { record, version } = (await site.store.users.get(everybody, visitor.user.id))!
  await site.store.users.replace({ ...record, emailVerifiedAt: 1 }, version)
  return { ...visitor, secret: visitor.app.secret!, id: visitor.app.client.id }
}

/** Goes where an app sends a browser, and returns where that comes back. */
async function follow(
  site: Site,
  { browser }: Pick<Awaited<ReturnType<typeof visit>>, 'browser'>,
  to: string,
) {
  const url = new URL(to)
  assert.equal(url.origin, site.issuer)
  return authorize(site, browser, url.pathname + url.search)
}

/** What an app has to know of a user. */
function factsOf({ id, email }: User) {
  return { sub: id, email, name: 'Ada' }
}

test('Auth.js signs a person in by the issuer, the id and the secret alone', async t => {
  const site = await startSite(t)
  const base = 'https://app.example.com/api/auth'
  const visitor = await visitProven(site, `${base}/callback/gatehouse`)
  let providers: AuthConfig['providers'] = []
  const NextAuth = (config: AuthConfig) => {
    providers = config.providers
    return {}
  }
  await runShown('NextAuth(', site, { NextAuth, process: environmentOf(visitor) })
  const jar = new Map<string, string>()
  const send = async (path: string, form?: Record<string, string>) => {
    const cookie = Array.from(jar, ([name, value]) => `${name}=${value}`).join('; ')
    const init = form && { method: 'POST', body: new URLSearchParams(form) }
    const response = await Auth(new Request(`${base}${path}`, { headers: { cookie }, ...init }), {
      basePath: '/api/auth',
      trustHost: true,
      secret: 'a secret of the app, of a test',
      providers,
    })
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!
      jar.set(name!, value!)
    }
    return response
  }
  const { csrfToken } = (await (await send('/csrf')).json()) as { csrfToken: string }
  const away = (await send('/signin/gatehouse', { csrfToken })).headers.get('location')!
  assert.equal(new URL(away).searchParams.get('scope'), 'openid profile email')
  const back = await follow(site, visitor, away)
  const arrived = await send(`/callback/gatehouse${back.search}`)
  assert.equal(arrived.headers.get('location'), 'https://app.example.com')
  const { user } = (await (await send('/session')).json()) as { user: object }
  assert.deepEqual(user, { name: 'Ada', email: visitor.user.email })
})

/** Runs a strategy of Passport as its middleware does, and returns where it sends the browser, or the user. */
function run(strategy: object, request: object): Promise<{ readonly to?: string; readonly user?: unknown }> {
  return new Promise((resolve, reject) => {
    const run = Object.assign(Object.create(strategy), {
      redirect: (to: string) => resolve({ to }),
      success: (user: unknown) => resolve({ user }),
      fail: (info: unknown) => reject(new Error(JSON.stringify(info))),
      error: reject,
    })
    run.authenticate(request, {})
  })
}

/** Both of Passport's middleware calls, of a browser with a session. */
async function throughPassport(
  strategy: object,
  site: Site,
  visitor: Awaited<ReturnType<typeof visitProven>>,
) {
  const session = {}
  const requestTo = (url: URL) => ({
    ...{ method: 'GET', protocol: 'https', host: url.host, headers: { host: url.host } },
    ...{ url: url.pathname + url.search, query: Object.fromEntries(url.searchParams), session },
  })
  const { to } = await run(strategy, requestTo(new URL('https://app.example/login')))
  const back = await follow(site, visitor, to!)
  return (await run(strategy, requestTo(back))).user
}

test('the strategy of passport-openidconnect signs a person in, with the secret in the form', async t => {
  const site = await startSite(t)
  const visitor = await visitProven(site, callback, { tokenEndpointAuthMethod: 'client_secret_post' })
  type Verified = (error: null, user: object) => void
  const OpenIdConnect = createRequire(import.meta.url)('passport-openidconnect')
  const strategy = new OpenIdConnect(
    {
      issuer: site.issuer,
      authorizationURL: `${site.issuer}/oauth2/auth`,
      tokenURL: `${site.issuer}/oauth2/token`,
      userInfoURL: `${site.issuer}/oauth2/userinfo`,
      ...{ clientID: visitor.id, clientSecret: visitor.secret, callbackURL: callback },
      ...{ scope: ['email', 'profile'], nonce: true, maxAge: 3_600, skipUserProfile: false },
    },
    (_: string, profile: object, verified: Verified) => verified(null, profile),
  )
  const { _raw, _json, ...user } = (await throughPassport(strategy, site, visitor)) as Record<string, unknown>
  const { sub: id, email, name: displayName } = factsOf(visitor.user)
  const name = { givenName: 'Ada' }
  assert.deepEqual(user, { id, displayName, name, emails: [{ value: email }] })
})

test('the strategy of openid-client for Passport signs a person in', async t => {
  const site = await startSite(t)
  const redirectUri = 'https://app.example.com/callback'
  const visitor = await visitProven(site, redirectUri, { tokenEndpointAuthMethod: 'client_secret_post' })
  const insecure = { execute: [openid.allowInsecureRequests] }
  const client = {
    discovery: (url: URL, id: string, secret: string) =>
      openid.discovery(url, id, secret, undefined, insecure),
  }
  const strategies: Strategy[] = []
  const passport = { use: (_: string, strategy: Strategy) => strategies.push(strategy) }
  const process = environmentOf(visitor)
  await runShown('openid-client/passport', site, { client, Strategy, passport, process })
  const { sub, email, name } = (await throughPassport(strategies[0]!, site, visitor)) as Record<
    string,
    unknown
  >
  assert.deepEqual({ sub, email, name }, factsOf(visitor.user))
})

/** Writes a form as Go does: sorted, and with spaces as plus signs. */
function formOfGo(params: Readonly<Record<string, string>>): string {
  return String(new URLSearchParams(Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1))))
}

type Tokens = Readonly<Record<string, unknown>>

/** Exchanges as Go's oauth2 package does, which does not know how to authenticate: by Basic, then in the form. */
async function exchangeOfGo(
  { issuer }: Site,
  { id, secret }: { readonly id: string; readonly secret: string },
  params: Readonly<Record<string, string>>,
): Promise<{ readonly tokens: Tokens; readonly statuses: readonly number[] }> {
  const post = (body: string, more: Readonly<Record<string, string>>) =>
    fetch(`${issuer}/oauth2/token`, {
      method: 'POST',
      headers: {
        'user-agent': 'Go-http-client/1.1',
        'content-type': 'application/x-www-form-urlencoded',
        'accept-encoding': 'gzip',
        ...more,
      },
      body,
    })
  const pair = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`
  const first = await post(formOfGo(params), {
    authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
  })
  if (first.ok) return { tokens: (await first.json()) as Tokens, statuses: [first.status] }
  const second = await post(formOfGo({ ...params, client_id: id, client_secret: secret }), {})
  return { tokens: (await second.json()) as Tokens, statuses: [first.status, second.status] }
}

function claimsIn({ id_token }: Tokens): Tokens {
  return JSON.parse(Buffer.from(String(id_token).split('.')[1]!, 'base64url').toString()) as Tokens
}

for (const [method, statuses] of [
  ['client_secret_basic', [200]],
  ['client_secret_post', [401, 200]],
] as const)
  test(`oauth2-proxy signs a person in as a client with ${method}, and refreshes`, async t => {
    const site = await startSite(t)
    const settings = settingsWith('oidc_issuer_url', site)
    assert.equal(settings.get('oidc_issuer_url'), site.issuer)
    const redirectUri = settings.get('redirect_url')!
    const visitor = await visitProven(site, redirectUri, { tokenEndpointAuthMethod: method })
    const signIn = async (scope: string) => {
      const nonce = 'WmVyb1JhbmRvbU5vbmNlT2ZPYXV0aDJQcm94eTEyMzQ'
      const query = formOfGo({
        ...{ approval_prompt: 'force', client_id: visitor.id, nonce, redirect_uri: redirectUri },
        ...{ response_type: 'code', scope, state: 'c3RhdGVPZk9hdXRoMlByb3h5:/dashboard?tab=1' },
      })
      const back = await follow(site, visitor, `${site.issuer}/oauth2/auth?${query}`)
      assert.equal(back.searchParams.get('state'), 'c3RhdGVPZk9hdXRoMlByb3h5:/dashboard?tab=1')
      const code = back.searchParams.get('code')!
      const params = { code, grant_type: 'authorization_code', redirect_uri: redirectUri }
      const exchanged = await exchangeOfGo(site, visitor, params)
      assert.equal(claimsIn(exchanged.tokens).nonce, nonce)
      return exchanged
    }
    const first = await signIn('openid email profile')
    assert.deepEqual(first.statuses, statuses)
    const { sub, email, name, email_verified } = claimsIn(first.tokens)
    assert.deepEqual({ sub, email, name }, factsOf(visitor.user))
    assert.equal(email_verified, true)
    assert.equal(first.tokens.refresh_token, undefined)
    const { tokens } = await signIn('openid email profile offline_access')
    const refreshed = await exchangeOfGo(site, visitor, {
      grant_type: 'refresh_token',
      refresh_token: String(tokens.refresh_token),
    })
    assert.equal(claimsIn(refreshed.tokens).email, email)
    // It asks for the session of a request that has a bearer token in this way.
    const headers = { authorization: `Bearer ${refreshed.tokens.access_token}` }
    const who = (await (await fetch(`${site.issuer}/oauth2/userinfo`, { headers })).json()) as Tokens
    assert.deepEqual([who.sub, who.email], [sub, email])
  })

test('Grafana signs a person in by generic OAuth, with PKCE and without', async t => {
  const site = await startSite(t)
  const settings = settingsWith('auth.generic_oauth', site)
  const redirectUri = 'https://grafana.example.com/login/generic_oauth'
  const visitor = await visitProven(site, redirectUri)
  const verifier = 'dGhlIHZlcmlmaWVyIG9mIGEgdGVzdCBvZiBHcmFmYW5hLCA0MyBjaGFycw'
  const challenge = await openid.calculatePKCECodeChallenge(verifier)
  for (const [proof, shown] of [
    [{}, {}],
    [{ code_challenge: challenge, code_challenge_method: 'S256' }, { code_verifier: verifier }],
  ]) {
    const query = formOfGo({
      ...{ access_type: 'offline', client_id: visitor.id, redirect_uri: redirectUri, response_type: 'code' },
      ...{ scope: `${settings.get('scopes')} offline_access`, state: 'c3RhdGU=', ...proof },
    })
    const back = await follow(site, visitor, `${settings.get('auth_url')}?${query}`)
    const code = back.searchParams.get('code')!
    assert.equal(settings.get('token_url'), `${site.issuer}/oauth2/token`)
    const params = { code, grant_type: 'authorization_code', redirect_uri: redirectUri, ...shown }
    const { tokens } = await exchangeOfGo(site, visitor, params as Record<string, string>)
    assert.deepEqual([tokens.token_type, typeof tokens.refresh_token], ['Bearer', 'string'])
    const headers = { authorization: `Bearer ${tokens.access_token}`, 'user-agent': 'Go-http-client/1.1' }
    const who = (await (await fetch(settings.get('api_url')!, { headers })).json()) as Tokens
    const { sub, email, name } = who
    assert.deepEqual({ sub, email, name }, factsOf(visitor.user))
  }
})
