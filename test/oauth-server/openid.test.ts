// OpenID Connect: what each scope lets an app read, what is asked for it, and whether the metadata are true.

import assert from 'node:assert/strict'
import { createHash, createPublicKey, type JsonWebKeyInput, verify } from 'node:crypto'
import { test } from 'node:test'
import { identityScopes } from '../../src/permissions/scopes.ts'
import type { OAuthClient } from '../../src/store/records/oauth-client.ts'
import { everybody, type User } from '../../src/store/records/people.ts'
import {
  type App,
  codeOf,
  errorIn,
  exchange,
  refresh,
  send,
  type Tokens,
  tokensIn,
  tokensOf,
  userinfo,
  visit,
} from './app.ts'
import {
  authorizationPath,
  Browser,
  callback,
  makeUser,
  pkce,
  register,
  type Site,
  startSite,
} from './site.ts'

type Claims = Readonly<Record<string, unknown>>

function claimsIn({ id_token }: Tokens): Claims {
  return JSON.parse(Buffer.from(id_token.split('.')[1]!, 'base64url').toString()) as Claims
}

async function read(response: Promise<Response>): Promise<Claims> {
  return (await (await response).json()) as Claims
}

/** Gives a user both names and a verified address, and returns the address. */
async function prove({ store }: Site, { id }: User): Promise<string> {
  const { record, version } = (await store.users.get(everybody, id))!
  await store.users.replace({ ...record, lastName: 'Byron', emailVerifiedAt: 1 }, version)
  return record.email
}

async function pageOf({ oauth, issuer }: Site, browser: Browser, client: OAuthClient, more: object) {
  const response = await browser.get(authorizationPath(client, { ...more }))
  const uid = /^\/oauth2\/consent\/(.+)$/.exec(response.headers.get('location') ?? '')?.[1]
  assert.ok(uid !== undefined, `${issuer}: ${response.status} ${response.headers.get('location')}`)
  return { uid, step: await oauth.interactions.load(uid, browser.request) }
}

const ofIdentity = identityScopes.map(({ id }) => id)
const everything = [...ofIdentity, 'ai_gateway.run']

test('each claim is where its scope was granted, and nowhere else', async t => {
  const site = await startSite(t)
  const { app, browser, user, account } = await visit(site, { scopes: everything })
  const email = await prove(site, user)
  const ofEmail = { email, email_verified: true }
  const ofProfile = { name: 'Ada Byron', given_name: 'Ada', family_name: 'Byron' }
  const cases: readonly (readonly [scope: string, claims: object])[] = [
    ['openid', {}],
    ['openid email', ofEmail],
    ['openid profile', ofProfile],
    ['openid email profile', { ...ofEmail, ...ofProfile }],
    ['openid user.read', { ...ofEmail, ...ofProfile }],
    ['openid memberships.read offline_access', {}],
    ['openid email ai_gateway.run', { ...ofEmail, account }],
  ]
  for (const [scope, expected] of cases) {
    const tokens = await tokensOf(site, browser, app, { scope })
    assert.deepEqual(tokens.scope.split(' ').sort(), scope.split(' ').sort())
    const who = { sub: user.id, ...expected }
    assert.deepEqual(await read(userinfo(site, tokens.access_token)), who, scope)
    const {
      iss: _,
      aud: __,
      exp: ___,
      iat: ____,
      auth_time: _____,
      at_hash: ______,
      ...claims
    } = claimsIn(tokens)
    assert.deepEqual(claims, who, scope)
  }
})

test('an address that nobody has verified is told to no app, whichever scope it has', async t => {
  const site = await startSite(t)
  const { app, browser, user } = await visit(site, { scopes: everything })
  const tokens = await tokensOf(site, browser, app, { scope: 'openid email profile user.read' })
  const all = [claimsIn(tokens), await read(userinfo(site, tokens.access_token))]
  for (const claims of all) {
    assert.equal(claims.name, 'Ada')
    assert.deepEqual([claims.email, claims.email_verified], [undefined, undefined])
    assert.doesNotMatch(JSON.stringify(claims), new RegExp(user.email))
  }
})

test('the chosen account is in token responses, ID tokens, userinfo and introspection', async t => {
  const site = await startSite(t)
  const { app, browser, account } = await visit(site)
  const first = await tokensOf(site, browser, app)
  const next = await tokensIn(await refresh(site, app, first.refresh_token))
  for (const tokens of [first, next]) {
    assert.equal((tokens as unknown as Claims).account, account)
    assert.equal(claimsIn(tokens).account, account)
  }
  assert.equal((await read(userinfo(site, next.access_token))).account, account)
  for (const token of [next.access_token, next.refresh_token])
    assert.equal((await read(send(site, '/oauth2/introspect', app, { token }))).account, account)
  const other = await register(site, account)
  const seen = await read(send(site, '/oauth2/introspect', other, { token: next.access_token }))
  assert.deepEqual(seen, { active: false })
  // Scopes of identity concern no account.
  const somebody = await makeUser(site, account)
  const newcomer = new Browser(site.issuer).signIn(somebody)
  const plain = await tokensOf(site, newcomer, app, { scope: 'openid user.read' })
  const told = [plain as unknown as Claims, claimsIn(plain), await read(userinfo(site, plain.access_token))]
  told.push(await read(send(site, '/oauth2/introspect', app, { token: plain.access_token })))
  for (const claims of told) assert.equal('account' in claims, false)
  assert.equal(claimsIn(plain).sub, somebody.id)
})

test('an ID token has its nonce, the time of the sign-in, and the hash of its access token', async t => {
  const site = await startSite(t)
  const { app, user } = await visit(site)
  const at = Date.now() - 60_000
  const browser = new Browser(site.issuer).signIn(user, at)
  const first = await tokensOf(site, browser, app, {
    nonce: 'n-1',
    acr_values: 'urn:example:gold',
    max_age: '3600',
  })
  const next = await tokensIn(await refresh(site, app, first.refresh_token))
  const { keys } = await read(fetch(`${site.issuer}/.well-known/jwks.json`))
  for (const tokens of [first, next]) {
    const { nonce, auth_time, at_hash, acr, aud, iss, sub } = claimsIn(tokens)
    assert.deepEqual([nonce, auth_time], ['n-1', Math.floor(at / 1_000)])
    assert.deepEqual([iss, aud, sub, acr], [site.issuer, app.client.id, user.id, undefined])
    const hash = createHash('sha256').update(tokens.access_token).digest().subarray(0, 16)
    assert.equal(at_hash, hash.toString('base64url'))
    const [head, body, signature] = tokens.id_token.split('.')
    const { kid } = JSON.parse(Buffer.from(head!, 'base64url').toString()) as { kid: string }
    const key = createPublicKey({
      key: (keys as (JsonWebKeyInput['key'] & { readonly kid: string })[]).find(key => key.kid === kid)!,
      format: 'jwk',
    })
    const signed = Buffer.from(`${head}.${body}`)
    const own = { key, dsaEncoding: 'ieee-p1363' } as const
    assert.ok(verify('sha256', signed, own, Buffer.from(signature!, 'base64url')))
  }
})

test('a person has one subject for all apps, sign-ins and accounts', async t => {
  const site = await startSite(t)
  const { app, browser, account, user } = await visit(site)
  const other = await register(site, account, { tokenEndpointAuthMethod: 'client_secret_post' })
  const subjects = new Set<unknown>()
  for (const one of [app, other, app])
    subjects.add(
      claimsIn(await tokensOf(site, one === app ? browser : new Browser(site.issuer).signIn(user), one)).sub,
    )
  assert.deepEqual([...subjects], [user.id])
})

test('with prompt=none and an id_token_hint, only that person is signed in', async t => {
  const site = await startSite(t)
  const { app, browser, account } = await visit(site)
  const { id_token } = await tokensOf(site, browser, app)
  const silent = { prompt: 'none', id_token_hint: id_token }
  assert.ok(await codeOf(site, browser, app.client, silent))
  const other = new Browser(site.issuer).signIn(await makeUser(site, account))
  const path = authorizationPath(app.client, { scope: 'openid', ...silent })
  const { searchParams } = new URL((await other.get(path)).headers.get('location')!)
  assert.equal(searchParams.get('error'), 'login_required')
})

test('what email and profile stand for is asked for once beside user.read, and once in all', async t => {
  const site = await startSite(t)
  const { app, browser, user } = await visit(site, { scopes: ['openid', 'user.read'] })
  const email = await prove(site, user)
  const scope = 'openid email profile user.read'
  const { step, uid } = await pageOf(site, browser, app.client, { scope })
  assert.ok(step.kind === 'consent')
  assert.deepEqual(
    step.scopes.map(({ id }) => id),
    ['openid', 'user.read'],
  )
  const decision = { kind: 'allow', account: null, optional: [] } as const
  assert.equal((await site.oauth.interactions.finish(uid, browser.request, decision)).kind, 'resume')
  // The client has registered neither name: user.read includes both.
  const silent = { scope: 'openid email', prompt: 'none' }
  const tokens = await tokensIn(await exchange(site, app, await codeOf(site, browser, app.client, silent)))
  assert.equal(tokens.scope, 'openid email')
  assert.equal(claimsIn(tokens).email, email)
  assert.equal(claimsIn(tokens).name, undefined)
  const seen = await read(send(site, '/oauth2/introspect', app, { token: tokens.access_token }))
  assert.equal(seen.scope, 'openid email')
})

test('a scope that another one includes has its own row where only the other one can be declined', async t => {
  const site = await startSite(t)
  const scope = 'openid email profile user.read'
  const shown = async (optionalScopes: readonly string[]) => {
    const { app, browser } = await visit(site, { scopes: scope.split(' '), optionalScopes })
    const { step } = await pageOf(site, browser, app.client, { scope })
    assert.ok(step.kind === 'consent')
    return step.scopes.map(({ id, isOptional }) => (isOptional ? `${id}?` : id))
  }
  assert.deepEqual(await shown([]), ['openid', 'user.read'])
  assert.deepEqual(await shown(['email']), ['openid', 'user.read'])
  assert.deepEqual(await shown(['user.read']), ['openid', 'email', 'profile', 'user.read?'])
  assert.deepEqual(await shown(['user.read', 'email']), ['openid', 'profile', 'user.read?'])
})

test('declining user.read declines what it includes, and is not asked again', async t => {
  const site = await startSite(t)
  const registered = { scopes: ['openid', 'user.read'], optionalScopes: ['user.read'] }
  const { app, browser, user } = await visit(site, registered)
  await prove(site, user)
  const scope = 'openid user.read email profile'
  const { uid } = await pageOf(site, browser, app.client, { scope })
  const decision = { kind: 'allow', account: null, optional: [] } as const
  await site.oauth.interactions.finish(uid, browser.request, decision)
  for (const asked of [scope, 'openid email', 'openid profile']) {
    const silent = { scope: asked, prompt: 'none' }
    const tokens = await tokensIn(await exchange(site, app, await codeOf(site, browser, app.client, silent)))
    assert.equal(tokens.scope, 'openid')
    assert.deepEqual(Object.keys(await read(userinfo(site, tokens.access_token))), ['sub'])
  }
})

test('a client that has registered neither email nor user.read cannot ask for email', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site, { scopes: ['openid', 'profile', 'ai_gateway.run'] })
  const response = await browser.get(authorizationPath(app.client, { scope: 'openid email profile' }))
  const { searchParams } = new URL(response.headers.get('location')!)
  assert.equal(searchParams.get('error'), 'invalid_scope')
  assert.equal(searchParams.get('error_description'), 'scope not registered for this client: email')
})

test('a refresh token comes with offline_access to a client that may refresh, and not otherwise', async t => {
  const site = await startSite(t)
  const { app, browser, account } = await visit(site)
  const once = await register(site, account, { grantTypes: ['authorization_code'], scopes: ['openid'] })
  for (const [one, scope, isGiven] of [
    [app, 'openid offline_access', true],
    [app, 'openid user.read', false],
    [once, 'openid', false],
  ] as const) {
    const tokens = await tokensOf(site, browser, one, { scope, prompt: 'consent' })
    assert.equal(tokens.refresh_token !== undefined, isGiven, scope)
  }
})

test('every member of the metadata is so', async t => {
  const site = await startSite(t)
  const { app, browser, user, account } = await visit(site, { scopes: everything })
  await prove(site, user)
  const paths = ['openid-configuration', 'oauth-authorization-server']
  const [metadata, same] = await Promise.all(
    paths.map(path => read(fetch(`${site.issuer}/.well-known/${path}`))),
  )
  assert.deepEqual(metadata, same)
  const url = (name: string) => String(metadata![name])
  const list = (name: string) => metadata![name] as readonly string[]
  const tokens = await tokensOf(site, browser, app, {
    scope: everything.join(' '),
    nonce: 'n',
    max_age: '3600',
  })
  const errorOf = async (more: Record<string, string>) => {
    const location = (
      await browser.get(authorizationPath(app.client, { scope: 'openid', ...more }))
    ).headers.get('location')!
    return location.startsWith(callback) ? new URL(location).searchParams.get('error') : null
  }
  const withEach = async (
    path: string,
    name: string,
    params: (app: App) => Promise<Record<string, string>>,
  ) => {
    const methods = ['client_secret_basic', 'client_secret_post', 'none'] as const
    assert.deepEqual(list(name), methods)
    for (const tokenEndpointAuthMethod of methods) {
      const one = await register(site, account, { tokenEndpointAuthMethod })
      const sent: Record<string, string> = await params(one)
      const isPost = tokenEndpointAuthMethod === 'client_secret_post'
      const form = { ...sent, ...(isPost && { client_id: one.client.id, client_secret: one.secret! }) }
      const response = isPost
        ? await fetch(site.issuer + path, { method: 'POST', body: new URLSearchParams(form) })
        : await send(site, path, one, form)
      assert.equal(
        response.status,
        200,
        `${path} ${tokenEndpointAuthMethod} ${await response.clone().text()}`,
      )
    }
  }
  const unsupported = (name: string, parameter: string, value: string, error: string | null) => async () => {
    assert.equal(metadata![name], false)
    assert.equal(await errorOf({ [parameter]: value }), error)
  }
  const claims = { ...claimsIn(tokens), ...(await read(userinfo(site, tokens.access_token))) }
  const checks: Readonly<Record<string, () => Promise<void> | void>> = {
    issuer: () => assert.deepEqual([url('issuer'), claims.iss], [site.issuer, site.issuer]),
    authorization_endpoint: async () => {
      const { searchParams } = new URL(authorizationPath(app.client, { scope: 'openid' }), site.issuer)
      const at = await browser.get(`${url('authorization_endpoint')}?${searchParams}`)
      assert.match(at.headers.get('location')!, /^https:\/\/app\.example\/callback\?code=/)
    },
    token_endpoint: async () =>
      assert.equal((await fetch(url('token_endpoint'), { method: 'POST' })).status, 400),
    revocation_endpoint: async () =>
      assert.equal((await fetch(url('revocation_endpoint'), { method: 'POST' })).status, 400),
    introspection_endpoint: async () =>
      assert.equal((await fetch(url('introspection_endpoint'), { method: 'POST' })).status, 400),
    userinfo_endpoint: async () => {
      const headers = { authorization: `Bearer ${tokens.access_token}` }
      for (const method of ['GET', 'POST'])
        assert.equal((await read(fetch(url('userinfo_endpoint'), { method, headers }))).sub, user.id)
    },
    end_session_endpoint: async () => {
      const hint = new URLSearchParams({ id_token_hint: tokens.id_token })
      const signedOut = await new Browser(site.issuer)
        .signIn(user)
        .get(`${url('end_session_endpoint')}?${hint}`)
      assert.deepEqual([signedOut.status, signedOut.headers.getSetCookie().length], [200, 1])
    },
    jwks_uri: async () => {
      const { keys } = await read(fetch(url('jwks_uri')))
      for (const key of keys as Claims[]) {
        assert.deepEqual([key.kty, key.crv, key.alg, key.use], ['EC', 'P-256', 'ES256', 'sig'])
        assert.equal('d' in key, false)
      }
    },
    service_documentation: async () =>
      assert.equal(
        (await fetch(url('service_documentation'))).headers.get('content-type')?.slice(0, 9),
        'text/html',
      ),
    scopes_supported: async () => {
      assert.equal(await errorOf({ scope: 'openid address' }), 'invalid_scope')
      const all = await register(site, account, { scopes: list('scopes_supported') })
      const { scope } = await tokensOf(site, browser, all, { scope: list('scopes_supported').join(' ') })
      assert.deepEqual(scope.split(' ').sort(), [...list('scopes_supported')].sort())
    },
    response_types_supported: async () => {
      assert.deepEqual(list('response_types_supported'), ['code'])
      assert.equal(await errorOf({ response_type: 'code id_token', nonce: 'n' }), null)
    },
    response_modes_supported: async () => {
      assert.equal(await errorOf({ response_mode: 'query' }), null)
      assert.equal(await errorOf({ response_mode: 'form_post' }), 'unsupported_response_mode')
      assert.deepEqual(list('response_modes_supported'), ['query'])
    },
    grant_types_supported: async () => {
      assert.deepEqual(list('grant_types_supported'), ['authorization_code', 'refresh_token'])
      const { error } = await errorIn(await exchange(site, app, 'x', { grant_type: 'client_credentials' }))
      assert.equal(error, 'unsupported_grant_type')
      assert.equal((await refresh(site, app, tokens.refresh_token)).status, 200)
    },
    token_endpoint_auth_methods_supported: () =>
      withEach('/oauth2/token', 'token_endpoint_auth_methods_supported', async ({ client }) => {
        const { verifier, challenge } = pkce()
        const proof = { code_challenge: challenge, code_challenge_method: 'S256' }
        const code = await codeOf(site, browser, client, { scope: 'openid', ...proof })
        return { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier }
      }),
    revocation_endpoint_auth_methods_supported: () =>
      withEach('/oauth2/revoke', 'revocation_endpoint_auth_methods_supported', async () => ({ token: 'x' })),
    introspection_endpoint_auth_methods_supported: () =>
      withEach('/oauth2/introspect', 'introspection_endpoint_auth_methods_supported', async () => ({
        token: 'x',
      })),
    code_challenge_methods_supported: async () => {
      assert.deepEqual(list('code_challenge_methods_supported'), ['S256'])
      const { challenge } = pkce()
      const plain = { code_challenge: challenge, code_challenge_method: 'plain' }
      assert.equal(await errorOf(plain), 'invalid_request')
    },
    subject_types_supported: async () => {
      assert.deepEqual(list('subject_types_supported'), ['public'])
      const other = await register(site, account)
      const { sub } = claimsIn(await tokensOf(site, browser, other))
      assert.equal(sub, claims.sub)
    },
    id_token_signing_alg_values_supported: () => {
      const { alg } = JSON.parse(
        Buffer.from(tokens.id_token.split('.')[0]!, 'base64url').toString(),
      ) as Claims
      assert.deepEqual(list('id_token_signing_alg_values_supported'), [alg])
    },
    claim_types_supported: () => {
      assert.deepEqual(list('claim_types_supported'), ['normal'])
      assert.equal('_claim_names' in claims, false)
    },
    claims_supported: () =>
      assert.deepEqual(Object.keys(claims).sort(), [...list('claims_supported')].sort()),
    prompt_values_supported: async () => {
      const fresh = await makeUser(site, account)
      const ask = async (prompt: string) => {
        const other = new Browser(site.issuer).signIn(fresh, Date.now() - 1_000)
        const location = (
          await other.get(authorizationPath(app.client, { scope: 'openid', prompt }))
        ).headers.get('location')!
        return location.startsWith('/oauth2/consent/') ? 'page' : new URL(location).searchParams.get('error')
      }
      const expected = { none: 'consent_required', login: 'page', consent: 'page', select_account: 'page' }
      for (const [prompt, end] of Object.entries(expected)) assert.equal(await ask(prompt), end, prompt)
      assert.deepEqual(list('prompt_values_supported'), Object.keys(expected))
      assert.equal(await ask('create'), 'invalid_request')
    },
    authorization_response_iss_parameter_supported: async () => {
      const location = (await browser.get(authorizationPath(app.client, { scope: 'openid' }))).headers.get(
        'location',
      )!
      assert.equal(new URL(location).searchParams.get('iss'), site.issuer)
    },
    claims_parameter_supported: unsupported(
      'claims_parameter_supported',
      'claims',
      '{"id_token":{"acr":{"essential":true}}}',
      null,
    ),
    request_parameter_supported: unsupported(
      'request_parameter_supported',
      'request',
      'x',
      'request_not_supported',
    ),
    request_uri_parameter_supported: unsupported(
      'request_uri_parameter_supported',
      'request_uri',
      'https://app.example/x',
      'request_uri_not_supported',
    ),
  }
  assert.deepEqual(Object.keys(metadata!).sort(), Object.keys(checks).sort())
  for (const [name, check] of Object.entries(checks)) await t.test(name, async () => check())
})
