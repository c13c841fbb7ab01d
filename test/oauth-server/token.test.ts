// Who gets tokens, what for, and what ends them.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import { mintSecret } from '../../src/oauth/clients/secret.ts'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'
import type { OAuthClient } from '../../src/store/records/oauth-client.ts'
import { StoreUnreachable, StoreUntouched } from '../../src/store/contract/store.ts'
import { openStore } from '../../src/store/open.ts'
import { mintToken } from '../../src/tokens/token.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'
import { verificationWith } from '../oauth/clients/client-with.ts'
import {
  codeOf,
  errorIn,
  eventsOf,
  exchange,
  refresh,
  send,
  tokensIn,
  tokensOf,
  userinfo,
  visit,
} from './app.ts'
import {
  authorizationPath,
  Browser,
  callback,
  makeAccount,
  pkce,
  register,
  type Site,
  startSite,
  tokenRequest,
} from './site.ts'

test('a client authenticates with exactly the method that it has registered', async t => {
  const site = await startSite(t)
  const { account } = await visit(site)
  const basic = await register(site, account)
  const post = await register(site, account, { tokenEndpointAuthMethod: 'client_secret_post' })
  const none = await register(site, account, { tokenEndpointAuthMethod: 'none' })
  const as = (
    app: typeof basic,
    tokenEndpointAuthMethod: 'none' | 'client_secret_post' | 'client_secret_basic',
  ) => ({ secret: app.secret ?? 'svcs_x', client: { ...app.client, tokenEndpointAuthMethod } })
  for (const app of [basic, post, none]) {
    const { error } = await errorIn(await exchange(site, app, 'x'))
    assert.equal(error, 'invalid_grant', app.client.tokenEndpointAuthMethod)
    for (const method of ['none', 'client_secret_post', 'client_secret_basic'] as const) {
      if (method === app.client.tokenEndpointAuthMethod) continue
      const response = await exchange(site, as(app, method), 'x')
      assert.equal(response.status, 401, `${method} for ${app.client.tokenEndpointAuthMethod}`)
      assert.equal((await errorIn(response)).error, 'invalid_client')
    }
  }
  const both = await fetch(`${site.issuer}/oauth2/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${basic.client.id}:${basic.secret}`).toString('base64')}`,
    },
    body: new URLSearchParams({
      client_id: basic.client.id,
      client_secret: basic.secret!,
      grant_type: 'refresh_token',
    }),
  })
  assert.equal((await errorIn(both)).error, 'invalid_request')
})

test('both secrets are good while a rotation lasts, and the last use of each is noted', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site)
  const { value, secret } = mintSecret(site.keys, Date.now())
  const kept = (await site.store.oauthClients.get(app.client.account, app.client.id))!
  const secrets = [secret, ...kept.record.secrets]
  await site.store.oauthClients.replace({ ...kept.record, secrets }, kept.version)
  await tokensOf(site, browser, app)
  await tokensOf(site, browser, { ...app, secret: value })
  await site.oauth.close()
  const used = (await site.store.oauthClients.get(app.client.account, app.client.id))!
  for (const { lastUsedAt } of used.record.secrets) assert.ok(lastUsedAt! > Date.now() - 3_700_000)
  const { digest, key } = used.record.secrets[1]!
  const deletedSecret = { digest, key, deletedAt: Date.now() - 180_000 }
  await site.store.oauthClients.replace({ ...used.record, secrets: [secret], deletedSecret }, used.version)
  assert.equal((await exchange(site, app, 'x')).status, 401)
  const [event] = await eventsOf(site, app.client)
  assert.equal(event?.reason, 'the secret is the one that was deleted 3 min ago')
})

test('wrong secrets are throttled for each client, and never keep out a right one', async t => {
  const site = await startSite(t)
  const { app, browser, account } = await visit(site)
  const other = await register(site, account)
  const wrong = { ...app, secret: 'svcs_wrong' }
  const statuses: number[] = []
  for (let i = 0; i < 80; i++) statuses.push((await exchange(site, wrong, 'x')).status)
  assert.deepEqual([...new Set(statuses)], [401, 429])
  assert.ok(statuses.filter(status => status === 401).length <= 61)
  const last = await exchange(site, wrong, 'x')
  assert.match(last.headers.get('retry-after')!, /^\d+$/)
  assert.equal((await errorIn(last)).error, 'invalid_client')
  await tokensOf(site, browser, app)
  assert.equal((await exchange(site, { ...other, secret: 'svcs_wrong' }, 'x')).status, 401)
  const events = await eventsOf(site, app.client)
  assert.ok(events.length < 80)
})

test('a token is good at the API that it was asked for, and one without at all', async t => {
  const site = await startSite(t)
  const { app, browser, account } = await visit(site)
  const api = `${site.issuer}/client/v4`
  const apisOf = async (token: string) => {
    const held = await site.verifier.verify(token, null, 'management')
    return typeof held === 'object' ? held.actor!.apis : held
  }
  const all = await tokensOf(site, browser, app)
  assert.deepEqual(await apisOf(all.access_token), ['management', 'ai'])
  const one = await tokensOf(site, browser, app, { resource: api })
  assert.deepEqual(await apisOf(one.access_token), ['management'])
  assert.equal(one.scope, 'user.read ai_gateway.run')
  const next = await tokensIn(await refresh(site, app, one.refresh_token))
  assert.deepEqual(await apisOf(next.access_token), ['management'])
  const held = await (await send(site, '/oauth2/introspect', app, { token: next.access_token })).json()
  assert.equal((held as { aud: string }).aud, api)
  const reader = await apiToken(site, account, 'OAuth Clients Read')
  for (const [token, aud] of [
    [next.access_token, api],
    [next.refresh_token, api],
    [all.refresh_token, undefined],
  ] as const) {
    const response = await fetch(`${site.issuer}/oauth2/introspect`, {
      method: 'POST',
      headers: { authorization: `Bearer ${reader}` },
      body: new URLSearchParams({ token }),
    })
    const told = (await response.json()) as { active: boolean; aud?: string }
    assert.deepEqual([told.active, told.aud], [true, aud])
  }
  const other = await errorIn(
    await refresh(site, app, next.refresh_token, { resource: 'https://ai.example/' }),
  )
  assert.equal(other.error, 'invalid_target')
  const path = authorizationPath(app.client, { resource: 'https://elsewhere.example/' })
  const location = new URL((await browser.get(path)).headers.get('location')!)
  assert.equal(location.searchParams.get('error'), 'invalid_target')
  assert.match(location.searchParams.get('error_description')!, /https:\/\/elsewhere\.example\//)
})

test('a refresh may ask for fewer scopes, and never for more', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site)
  const tokens = await tokensOf(site, browser, app)
  const fewer = await tokensIn(await refresh(site, app, tokens.refresh_token, { scope: 'user.read' }))
  assert.equal(fewer.scope, 'user.read')
  const more = await refresh(site, app, fewer.refresh_token, { scope: 'user.read members.read' })
  assert.equal((await errorIn(more)).error, 'invalid_scope')
})

test('a scope that the client drops, or a consent that is withdrawn, ends what depends on it', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site)
  const tokens = await tokensOf(site, browser, app)
  const { oauthClients, oauthGrants } = site.store
  const kept = (await oauthClients.get(app.client.account, app.client.id))!
  const scopes = ['openid', 'offline_access', 'ai_gateway.run']
  await oauthClients.replace({ ...kept.record, scopes }, kept.version)
  const next = await tokensIn(await refresh(site, app, tokens.refresh_token))
  assert.equal(next.scope, scopes.join(' '))
  const [grant] = (await oauthGrants.ofClient(app.client.id, { offset: 0, limit: 9 })).items
  await oauthGrants.remove(grant!.account, grant!.id)
  const { error, error_description } = await errorIn(await refresh(site, app, next.refresh_token))
  assert.deepEqual([error, error_description], ['invalid_grant', 'the consent was withdrawn'])
  assert.equal((await userinfo(site, next.access_token)).status, 401)
  await oauthClients.remove(app.client.account, app.client.id)
  assert.equal((await refresh(site, app, next.refresh_token)).status, 401)
})

test('a client revokes its own tokens: an access token or a refresh token with all of its code', async t => {
  const site = await startSite(t)
  const { app, browser, account } = await visit(site)
  const other = await register(site, account)
  const revoke = (by: typeof app, token: string) => send(site, '/oauth2/revoke', by, { token })
  for (const kind of ['access_token', 'refresh_token'] as const) {
    const tokens = await tokensOf(site, browser, app)
    const beside = await tokensOf(site, browser, app)
    assert.equal((await revoke(other, tokens[kind])).status, 200)
    assert.equal((await userinfo(site, tokens.access_token)).status, 200)
    assert.equal((await revoke(app, tokens[kind])).status, 200)
    assert.equal((await revoke(app, tokens[kind])).status, 200)
    assert.equal((await userinfo(site, tokens.access_token)).status, 401)
    assert.equal((await refresh(site, app, tokens.refresh_token)).status, 400)
    assert.equal((await userinfo(site, beside.access_token)).status, 200)
  }
  assert.equal((await revoke(app, 'svco_nothing')).status, 200)
  assert.equal((await revoke({ ...app, secret: 'svcs_wrong' }, 'x')).status, 401)
})

/** Makes an API token with a permission in an account. */
async function apiToken({ store }: Site, account: string, permission: string): Promise<string> {
  const { value, digest } = mintToken()
  const group = permissionGroups.find(({ name }) => name === permission)!
  const policy = { id: '1', effect: 'allow', permissionGroups: [group.id], accounts: [account] } as const
  await store.tokens.insert({
    ...{ account, id: digest.slice(32), name: 'Reader', digest, status: 'active', policies: [policy] },
    ...{ notBefore: null, expiresOn: null, addressesIn: [], addressesNotIn: [], issuedOn: 1, modifiedOn: 1 },
  })
  return value
}

test('a client introspects its own tokens; an API token those of its account', async t => {
  const site = await startSite(t)
  const { app, browser, account, user } = await visit(site)
  const other = await register(site, account)
  const tokens = await tokensOf(site, browser, app)
  const read = async (response: Response) => {
    assert.equal(response.status, 200)
    return (await response.json()) as Record<string, unknown>
  }
  const byClient = await read(await send(site, '/oauth2/introspect', app, { token: tokens.access_token }))
  const byToken = async (bearer: string, token: string) =>
    fetch(`${site.issuer}/oauth2/introspect`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}` },
      body: new URLSearchParams({ token }),
    })
  const reader = await apiToken(site, account, 'OAuth Clients Read')
  const seen = await read(await byToken(reader, tokens.access_token))
  for (const found of [byClient, seen]) {
    assert.equal(found.active, true)
    assert.deepEqual([found.client_id, found.sub, found.scope], [app.client.id, user.id, tokens.scope])
    assert.equal(found.iss, site.issuer)
    assert.equal(Number(found.exp) - Number(found.iat), 3_600)
  }
  assert.equal((await read(await byToken(reader, tokens.refresh_token))).active, true)
  const inactive = { active: false }
  assert.deepEqual(
    await read(await send(site, '/oauth2/introspect', other, { token: tokens.access_token })),
    inactive,
  )
  const elsewhere = await apiToken(site, await makeAccount(site), 'OAuth Clients Read')
  const unable = await apiToken(site, account, 'Members Read')
  for (const bearer of [elsewhere, unable])
    assert.deepEqual(await read(await byToken(bearer, tokens.access_token)), inactive)
  assert.equal((await byToken('svct_wrong', tokens.access_token)).status, 401)
  await send(site, '/oauth2/revoke', app, { token: tokens.access_token })
  assert.deepEqual(await read(await byToken(reader, tokens.access_token)), inactive)
  const others = await tokensOf(site, browser, app)
  assert.equal((await read(await byToken(reader, others.access_token))).active, true)
  await send(site, '/oauth2/revoke', app, { token: others.refresh_token })
  assert.deepEqual(await read(await byToken(reader, others.access_token)), inactive)
})

test('a client without a secret learns of a token only if it was issued to that client, and of used ones nothing', async t => {
  const site = await startSite(t)
  const { app, browser, account, user } = await visit(site, { tokenEndpointAuthMethod: 'none' })
  const [rival, server] = [
    await register(site, account, { tokenEndpointAuthMethod: 'none' }),
    await register(site, account),
  ]
  const { verifier, challenge } = pkce()
  const pair = async (of: typeof app) => {
    const s256 = { code_challenge: challenge, code_challenge_method: 'S256' }
    const code = await codeOf(site, browser, of.client, s256)
    return tokensIn(await exchange(site, of, code, { code_verifier: verifier }))
  }
  const [own, foreign, confidential] = [await pair(app), await pair(rival), await pair(server)]
  const seen = async (by: typeof app, token: string) => {
    const response = await send(site, '/oauth2/introspect', by, { token })
    assert.equal(response.status, 200)
    return (await response.json()) as Record<string, unknown>
  }
  for (const token of [own.access_token, own.refresh_token]) {
    const { active, client_id, sub } = await seen(app, token)
    assert.deepEqual([active, client_id, sub], [true, app.client.id, user.id])
    for (const by of [rival, server]) assert.deepEqual(await seen(by, token), { active: false })
  }
  for (const { access_token, refresh_token } of [foreign, confidential])
    for (const token of [access_token, refresh_token])
      assert.deepEqual(await seen(app, token), { active: false })
  assert.deepEqual(await seen(app, `svco_${'A'.repeat(60)}`), { active: false })
  // Neither nobody, nor a client with a secret that does not show it.
  const ask = (body: Record<string, string>) =>
    fetch(`${site.issuer}/oauth2/introspect`, { method: 'POST', body: new URLSearchParams(body) })
  assert.equal((await ask({ token: own.access_token })).status, 400)
  const unproven = await ask({ token: confidential.access_token, client_id: server.client.id })
  assert.deepEqual([unproven.status, (await errorIn(unproven)).error], [401, 'invalid_client'])
  const next = await tokensIn(await refresh(site, app, own.refresh_token))
  assert.deepEqual(await seen(app, own.refresh_token), { active: false })
  assert.equal((await seen(app, next.refresh_token)).active, true)
  const last = await tokensIn(await refresh(site, app, own.refresh_token))
  for (const token of [next.refresh_token, next.access_token])
    assert.deepEqual(await seen(app, token), { active: false })
  assert.equal((await seen(app, last.refresh_token)).active, true)
})

test('no page reads what introspection responds, and those of registered origins what they use', async t => {
  const site = await startSite(t)
  const origin = 'https://spa.example'
  const spa = { tokenEndpointAuthMethod: 'none', allowedCorsOrigins: [origin] } as const
  const { app, browser, account } = await visit(site, spa)
  const { verifier, challenge } = pkce()
  const s256 = { code_challenge: challenge, code_challenge_method: 'S256' }
  const code = await codeOf(site, browser, app.client, s256)
  const { access_token: token } = await tokensIn(await exchange(site, app, code, { code_verifier: verifier }))
  const cors = ({ headers }: Response) =>
    [...headers.keys()].filter(name => name.startsWith('access-control-'))
  const post = (path: string, body: Record<string, string>, headers: Record<string, string>) =>
    fetch(`${site.issuer}${path}`, { method: 'POST', headers, body: new URLSearchParams(body) })
  const reader = await apiToken(site, account, 'OAuth Clients Read')
  const own = { client_id: app.client.id, token }
  const introspections = [
    [own, {}, 200],
    [own, { origin }, 400],
    [own, { origin: 'https://evil.example' }, 400],
    [own, { origin: site.issuer }, 400],
    [{ token }, { origin }, 400],
    [{ client_id: '0'.repeat(32), token }, { origin }, 401],
    [{ client_id: app.client.id }, { origin }, 400],
    [{ token }, { origin, authorization: `Bearer ${reader}` }, 200],
    [{ token }, { origin, authorization: 'Bearer svct_wrong' }, 401],
  ] as const
  for (const [body, headers, status] of introspections) {
    const response = await post('/oauth2/introspect', body, headers)
    assert.deepEqual([response.status, cors(response)], [status, []], JSON.stringify([body, headers]))
  }
  const preflight = (path: string) =>
    fetch(`${site.issuer}${path}`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    })
  for (const path of ['/oauth2/introspect', '/oauth2/auth', '/oauth2/logout']) {
    const response = await preflight(path)
    assert.deepEqual([response.status, cors(response)], [405, []], path)
  }
  for (const path of ['/oauth2/token', '/oauth2/revoke', '/oauth2/userinfo']) {
    const { status, headers } = await preflight(path)
    assert.deepEqual([status, headers.get('access-control-allow-origin')], [204, origin], path)
  }
  const revoked = await post('/oauth2/revoke', own, { origin })
  assert.deepEqual([revoked.status, revoked.headers.get('access-control-allow-origin')], [200, origin])
  const evil = await post('/oauth2/revoke', own, { origin: 'https://evil.example' })
  assert.deepEqual([evil.status, cors(evil).includes('access-control-allow-origin')], [400, false])
})

test('a token that is revoked ends all of its sign-in, and neither another one nor the consent', async t => {
  const site = await startSite(t)
  const { app, browser, user } = await visit(site)
  for (const kind of ['access_token', 'refresh_token'] as const) {
    const first = await tokensOf(site, browser, app)
    const next = await tokensIn(await refresh(site, app, first.refresh_token))
    const beside = await tokensOf(site, browser, app)
    assert.equal((await send(site, '/oauth2/revoke', app, { token: first[kind] })).status, 200)
    for (const { access_token, refresh_token } of [first, next]) {
      assert.equal((await userinfo(site, access_token)).status, 401)
      assert.equal((await refresh(site, app, refresh_token)).status, 400)
    }
    assert.equal((await userinfo(site, beside.access_token)).status, 200)
    const { total } = await site.store.oauthGrants.ofUser(user.id, { offset: 0, limit: 10 })
    assert.equal(total, 1)
  }
})

test('pages of registered origins may use the token, and no page the authorization endpoint', async t => {
  const site = await startSite(t)
  const spa = { tokenEndpointAuthMethod: 'none', allowedCorsOrigins: ['https://spa.example'] } as const
  const { app, browser } = await visit(site, spa)
  const { verifier, challenge } = pkce()
  const s256 = { code_challenge: challenge, code_challenge_method: 'S256' }
  const from = async (origin: string) => {
    const code = await codeOf(site, browser, app.client, s256)
    const body = { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier }
    return fetch(`${site.issuer}/oauth2/token`, {
      method: 'POST',
      headers: { origin },
      body: new URLSearchParams({ ...body, client_id: app.client.id }),
    })
  }
  const allowed = await from('https://spa.example')
  assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://spa.example')
  const { access_token } = await tokensIn(allowed)
  const refused = await from('https://evil.example')
  assert.deepEqual([refused.status, refused.headers.get('access-control-allow-origin')], [400, null])
  for (const origin of ['https://spa.example', 'https://evil.example']) {
    const headers = { origin, authorization: `Bearer ${access_token}` }
    const seen = await fetch(`${site.issuer}/oauth2/userinfo`, { headers })
    assert.equal(seen.status, origin === 'https://spa.example' ? 200 : 400)
    const page = await browser.get(authorizationPath(app.client, s256), { origin })
    assert.equal(page.headers.get('access-control-allow-origin'), null)
  }
  for (const path of ['/.well-known/openid-configuration', '/.well-known/jwks.json']) {
    const { headers } = await fetch(site.issuer + path, { headers: { origin: 'https://any.example' } })
    assert.equal(headers.get('access-control-allow-origin'), '*')
  }
  const { status } = await fetch(`${site.issuer}/oauth2/auth`, { method: 'OPTIONS' })
  assert.equal(status, 405)
})

test('an app signs the user out by their ID token; a link without it asks first', async t => {
  const site = await startSite(t)
  const { app, browser, account } = await visit(site, {
    postLogoutRedirectUris: ['https://app.example/bye?a=b'],
  })
  const { id_token } = await tokensOf(site, browser, app)
  const out = (params: Record<string, string>) => browser.get(`/oauth2/logout?${new URLSearchParams(params)}`)
  const uri = { post_logout_redirect_uri: 'https://app.example/bye?a=b' }
  const asked = await out({ client_id: app.client.id, ...uri, state: '<b>' })
  assert.equal(asked.status, 200)
  assert.match(await asked.text(), /Sign out\?[\s\S]* value="&#60;b&#62;"/)
  const wrong = [
    { ...uri },
    { client_id: app.client.id, post_logout_redirect_uri: 'https://app.example/bye' },
    { client_id: '0'.repeat(32) },
    { id_token_hint: `${id_token}x` },
    { id_token_hint: id_token.split('.').with(1, 'e30').join('.') },
    { id_token_hint: id_token, client_id: (await register(site, account)).client.id },
  ]
  for (const params of wrong) assert.equal((await out(params)).status, 400, JSON.stringify(params))
  assert.match(browser.cookie, /person=/)
  const done = await out({ id_token_hint: id_token, ...uri, state: 's' })
  assert.equal(done.headers.get('location'), 'https://app.example/bye?a=b&state=s')
  assert.doesNotMatch(browser.cookie, /person=/)
})

test('the page that asks signs out by what browsers of any age say of where a form came from', async t => {
  const site = await startSite(t)
  const origin = site.issuer
  for (const [fields, isSignedOut] of [
    [{ 'sec-fetch-site': 'same-origin', origin }, true],
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ origin }, true],
    [{ origin: 'https://evil.example' }, false],
    [{ origin: 'null' }, false],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{ 'sec-fetch-site': 'same-site', origin }, false],
  ] as const) {
    const { browser } = await visit(site)
    const headers = { cookie: browser.cookie, ...fields }
    const response = await fetch(`${origin}/oauth2/logout`, { method: 'POST', headers })
    const asks = /Sign out\?/.test(await response.text())
    assert.deepEqual([response.status, asks], [200, !isSignedOut], JSON.stringify(fields))
    assert.equal(
      response.headers.getSetCookie().some(cookie => /person=;/.test(cookie)),
      isSignedOut,
    )
  }
})

test('without a session a sign-out link redirects at once, and only to a verified publisher', async t => {
  const site = await startSite(t)
  const { account, app } = await visit(site)
  const uri = 'https://app.example/bye'
  const known = { clientUri: 'https://app.example/', verification: verificationWith({ status: 'verified' }) }
  const out = async (more: Partial<OAuthClient>) => {
    const { client } = await register(site, account, { ...more, postLogoutRedirectUris: [uri] })
    const params = new URLSearchParams({ client_id: client.id, post_logout_redirect_uri: uri })
    return new Browser(site.issuer).get(`/oauth2/logout?${params}`)
  }
  for (const more of [known, { ...known, visibility: 'public' } as const])
    assert.equal((await out(more)).headers.get('location'), uri)
  assert.ok(app.client.visibility === 'private')
  const page = await out({})
  assert.deepEqual(
    [page.status, page.headers.get('location'), page.headers.get('refresh')],
    [200, null, null],
  )
  assert.match(await page.text(), /Continue to app\.example, or close this page/)
})

test('codes, access tokens and refresh tokens end in their time, however often they are used', async t => {
  const [start, second, day] = [Date.now(), 1_000, 86_400_000]
  t.mock.timers.enable({ apis: ['Date'], now: start })
  const site = await startSite(t)
  const { app, user } = await visit(site)
  const browser = () => new Browser(site.issuer).signIn(user)
  const late = await codeOf(site, browser(), app.client)
  t.mock.timers.tick(61 * second)
  assert.equal((await errorIn(await exchange(site, app, late))).error, 'invalid_grant')
  let tokens = await tokensOf(site, browser(), app)
  t.mock.timers.tick(3_599 * second)
  assert.equal((await userinfo(site, tokens.access_token)).status, 200)
  t.mock.timers.tick(2 * second)
  assert.equal((await userinfo(site, tokens.access_token)).status, 401)
  const unused = await tokensOf(site, browser(), app)
  t.mock.timers.tick(30 * day + second)
  assert.equal((await refresh(site, app, unused.refresh_token)).status, 400)
  tokens = await tokensOf(site, browser(), app)
  for (let days = 0; days + 29 < 180; days += 29) {
    t.mock.timers.tick(29 * day)
    tokens = await tokensIn(await refresh(site, app, tokens.refresh_token))
  }
  t.mock.timers.tick(6 * day + second)
  assert.equal((await errorIn(await refresh(site, app, tokens.refresh_token))).error, 'invalid_grant')
})

test('lifetimes may be shorter', async t => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const lifetimes = { code: 5_000, accessToken: 60_000, refreshToken: 120_000, refreshTokenMost: 180_000 }
  const site = await startSite(t, { lifetimes })
  const { app, browser } = await visit(site)
  const late = await codeOf(site, browser, app.client)
  const tokens = await tokensOf(site, browser, app)
  assert.equal(tokens.expires_in, 60)
  t.mock.timers.tick(6_000)
  assert.equal((await exchange(site, app, late)).status, 400)
  t.mock.timers.tick(100_000)
  const next = await tokensIn(await refresh(site, app, tokens.refresh_token))
  t.mock.timers.tick(76_000)
  assert.equal((await refresh(site, app, next.refresh_token)).status, 400)
})

test('while the store is unreachable endpoints respond 503 in the format of OAuth', async t => {
  const redis = await startRedis(t)
  const store = await openStore(redis.url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  const site = await startSite(t, { store })
  const { app, browser } = await visit(site)
  const code = await codeOf(site, browser, app.client)
  await redis.kill()
  const response = await exchange(site, app, code)
  assert.equal(response.status, 503)
  assert.equal((await errorIn(response)).error, 'temporarily_unavailable')
  const asked = await browser.get(authorizationPath(app.client))
  assert.equal(asked.status, 503)
  for (const { headers } of [response, asked]) assert.equal(headers.get('retry-after'), '5')
  assert.equal((await userinfo(site, 'svco_x')).status, 401)
  assert.deepEqual(site.bugs, [])
})

test('a store that is full or did not confirm an exchange is not called unreachable', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site)
  const code = await codeOf(site, browser, app.client)
  for (const [failure, description] of [
    [new StoreUnreachable({ code: 'ECONNREFUSED' }), 'cannot be reached; try again'],
    [new StoreUnreachable({ code: 'UNCONFIRMED' }), 'did not confirm this; try again'],
    [
      new StoreUntouched({ code: 'SQLITE_FULL' }),
      'takes no changes, since its disk or memory is full or it lacks replicas; try again later',
    ],
  ] as const) {
    const failing = t.mock.method(site.store.credentials, 'exchange', () => Promise.reject(failure))
    const response = await exchange(site, app, code)
    const { error, error_description: said } = await errorIn(response)
    const expected = [503, 'temporarily_unavailable', `the store of the server ${description}`]
    assert.deepEqual([response.status, error, said], expected)
    failing.mock.restore()
  }
  assert.equal((await exchange(site, app, code)).status, 200)
})

test('codes, tokens and secrets are nowhere in the store or the log', async t => {
  const folder = quickFolder(t, 'oauth')
  const file = join(folder, 'store.db')
  const site = await startSite(t, { url: `sqlite:${file}` })
  const { app, browser } = await visit(site)
  const code = await codeOf(site, browser, app.client)
  const tokens = await tokensIn(await exchange(site, app, code))
  const next = await tokensIn(await refresh(site, app, tokens.refresh_token))
  await exchange(site, app, code)
  await eventsOf(site, app.client)
  const written =
    [file, `${file}-wal`].map(path => readFileSync(path, 'latin1')).join('') + site.lines.join('')
  const values = [code, app.secret!, ...[tokens, next].flatMap(one => [one.access_token, one.refresh_token])]
  for (const value of values) assert.equal(written.includes(value), false, value.slice(0, 5))
})

test('keys of ID tokens replace themselves, and are published before and after they sign', async t => {
  const now = Date.now()
  t.mock.timers.enable({ apis: ['Date'], now })
  const site = await startSite(t)
  const other = await startSite(t, { store: site.store, keys: site.keys })
  const { app, user } = await visit(site)
  const published = async ({ issuer }: Site) => {
    const { keys } = (await (await fetch(`${issuer}/.well-known/jwks.json`)).json()) as {
      keys: { kid: string }[]
    }
    return keys.map(({ kid }) => kid)
  }
  const signer = async () => {
    const browser = new Browser(site.issuer).signIn(user, Date.now())
    const { id_token } = await tokensOf(site, browser, app)
    return (JSON.parse(Buffer.from(id_token.split('.')[0]!, 'base64url').toString()) as { kid: string }).kid
  }
  const day = 86_400_000
  const expect = async (kids: readonly string[], signs: string) => {
    // A set is looked up behind the request that finds it old.
    for (const one of [site, other]) await until(async () => isDeepStrictEqual(await published(one), kids))
    assert.equal(await signer(), signs)
  }
  await expect(['gatehouse-1'], 'gatehouse-1')
  t.mock.timers.tick(89 * day + 3_600_000)
  await expect(['gatehouse-1', 'gatehouse-2'], 'gatehouse-1')
  t.mock.timers.tick(day)
  await expect(['gatehouse-1', 'gatehouse-2'], 'gatehouse-2')
  t.mock.timers.tick(2 * day)
  await expect(['gatehouse-2'], 'gatehouse-2')
})

test('keys of ID tokens that a lost server key had sealed are replaced, and the log says so', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site)
  await tokensOf(site, browser, app)
  const lost = await startSite(t, { store: site.store, keys: new SecretKeys(Buffer.alloc(32, 'other')) })
  const again = await visit(lost)
  assert.ok((await tokensOf(lost, again.browser, again.app)).id_token)
  const said = lost.lines.filter(line => line.includes('signing keys unreadable'))
  assert.equal(said.length, 1)
})

test('a body that is too large is refused, and holds up no other request of the connection', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site)
  const { access_token } = await tokensOf(site, browser, app)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const post = async (path: string, body: string, authorization = '') => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization }
    // Without a length, it is found out on the way.
    const sent = request(`${site.issuer}${path}`, { agent, method: 'POST', headers })
    sent.write(body)
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }
  const body = `a=${'b'.repeat(3_000_000)}`
  const endpoints = { auth: 413, logout: 413, introspect: 413, token: 400, revoke: 400, userinfo: 400 }
  for (const [endpoint, status] of Object.entries(endpoints)) {
    const path = `/oauth2/${endpoint}`
    const authorization = endpoint === 'introspect' ? `Bearer ${access_token}` : undefined
    assert.equal(await post(path, body, authorization), status, path)
    assert.equal(await post('/oauth2/token', 'a=b'), 400, `after ${path}`)
  }
})

test('a used code that another client shows ends nothing, and the reason says so', async t => {
  const site = await startSite(t)
  const { app, browser, account } = await visit(site)
  const other = await register(site, account)
  const code = await codeOf(site, browser, app.client)
  const { access_token } = await tokensIn(await exchange(site, app, code))
  const { error_description } = await errorIn(await exchange(site, other, code))
  assert.equal(error_description, 'it was issued to another client')
  assert.equal((await userinfo(site, access_token)).status, 200)
})

test('an app that wants its tokens bound to a key is told that they are not', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site)
  const path = authorizationPath(app.client, { scope: 'openid', dpop_jkt: 'a'.repeat(43), prompt: 'none' })
  const location = new URL((await browser.get(path)).headers.get('location')!)
  assert.match(location.searchParams.get('error_description')!, /DPoP \(RFC 9449\) is not supported/)
  const code = await codeOf(site, browser, app.client)
  const params = { grant_type: 'authorization_code', code, redirect_uri: callback }
  const refused = await tokenRequest(site, app, params, { dpop: 'x' })
  assert.equal(refused.status, 400)
  assert.match((await errorIn(refused)).error_description, /DPoP \(RFC 9449\) is not supported/)
  assert.equal((await exchange(site, app, code)).status, 200)
})
