// What an authorization request may ask for, what a person is asked, and what is remembered of that.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { everybody } from '../../src/store/records/people.ts'
import { codeOf, errorIn, eventsOf, exchange, refresh, scope, tokensIn, tokensOf, visit } from './app.ts'
import {
  authorizationPath,
  authorize,
  Browser,
  callback,
  makeAccount,
  makeUser,
  pkce,
  register,
  type Site,
  startSite,
} from './site.ts'
import { roles } from '../../src/permissions/roles.ts'
import type { OAuthClient } from '../../src/store/records/oauth-client.ts'
import { verificationWith } from '../oauth/clients/client-with.ts'

/** Goes to the page that an authorization request leads to, and returns its id. */
async function pageOf(browser: Browser, path: string): Promise<string> {
  const response = await browser.get(path)
  const uid = /^\/oauth2\/consent\/([\w-]+)$/.exec(response.headers.get('location') ?? '')?.[1]
  assert.ok(uid !== undefined, `${response.status} ${response.headers.get('location')}`)
  return uid
}

async function askedOf({ oauth }: Site, browser: Browser, path: string) {
  return oauth.interactions.load(await pageOf(browser, path), browser.request)
}

const ask = (client: OAuthClient, more = {}) => authorizationPath(client, { scope, ...more })

/** Follows a request that leads straight back to the app, and returns the parameters of the response. */
async function answerOf(browser: Browser, path: string): Promise<Record<string, string>> {
  const response = await browser.get(path)
  const location = response.headers.get('location')
  assert.ok(location?.startsWith(callback) === true, `${response.status} ${location}`)
  return Object.fromEntries(new URL(location!).searchParams)
}

test('a response names its issuer, an error too, with a description and where it is explained', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site)
  const url = await authorize(site, browser, ask(app.client))
  assert.equal(url.searchParams.get('iss'), site.issuer)
  assert.deepEqual(await answerOf(browser, ask(app.client, { scope: 'openid nothing' })), {
    error: 'invalid_scope',
    error_description: 'scope unknown: nothing',
    error_uri: `${site.issuer}/oauth2/errors/invalid_scope`,
    state: 's',
    iss: site.issuer,
  })
})

test('every error that is documented has a page, in the format that is asked for', async t => {
  const { issuer } = await startSite(t)
  const get = (path: string, accept: string) => fetch(`${issuer}${path}`, { headers: { accept } })
  const list = await (await get('/oauth2/errors', 'application/json')).json()
  const { errors } = list as { readonly errors: readonly { readonly error: string }[] }
  assert.ok(errors.length > 15)
  for (const { error } of errors) {
    const page = await get(`/oauth2/errors/${error}`, 'text/html')
    assert.equal(page.status, 200)
    assert.match(await page.text(), new RegExp(`<code>${error}</code>`))
    assert.match(await (await get(`/oauth2/errors/${error}`, 'text/markdown')).text(), /^# .+\n\n.+/)
    assert.match(await (await get(`/oauth2/errors/${error}`, 'text/plain')).text(), /^[a-z_]+: .+\n\n.+/)
  }
  assert.equal((await get('/oauth2/errors/nothing', 'text/html')).status, 404)
})

test('a wrong client or redirect URI gets a page of ours, and is never led on', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site, {
    redirectUris: [callback, 'http://127.0.0.1:1/cb?a=b', 'http://localhost:1/cb'],
  })
  const other = { ...app.client, id: '0'.repeat(32) }
  const wrong = [
    ask(other),
    '/oauth2/auth',
    ...[
      `${callback}/`,
      `${callback}?`,
      `${callback}#`,
      callback.toUpperCase(),
      'https://app.example',
      'javascript:alert(1)',
      'http://127.0.0.1:2/cb?a=c',
      'http://127.0.0.2:1/cb?a=b',
      'http://localhost:2/cb',
      'https://127.0.0.1:1/cb?a=b',
      'http://127.0.0.1:1@evil.example/cb?a=b',
      'http://127.0.0.1:99999/cb?a=b',
      '<script>alert(1)</script>',
    ].map(redirect_uri => ask(app.client, { redirect_uri })),
  ]
  for (const path of wrong) {
    const response = await browser.get(path)
    assert.deepEqual([response.status, response.headers.get('location')], [400, null], path)
    assert.match(response.headers.get('content-type')!, /^text\/html/)
    assert.match(response.headers.get('content-security-policy')!, /frame-ancestors 'none'/)
    assert.doesNotMatch(await response.text(), /<script>alert/)
  }
  for (const redirect_uri of [
    'http://127.0.0.1:65000/cb?a=b',
    'http://127.0.0.1/cb?a=b',
    'http://localhost:1/cb',
  ]) {
    const url = await authorize(site, browser, ask(app.client, { redirect_uri }))
    assert.ok(url.searchParams.get('code'), redirect_uri)
    assert.ok(url.href.startsWith(redirect_uri))
  }
})

test('only the code flow is there: all else is refused by name, and absent from the metadata', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site)
  const types = ['token', 'id_token', 'code token', 'code id_token', 'id_token token', 'none', 'device']
  for (const response_type of types) {
    const response = await browser.get(ask(app.client, { response_type, nonce: 'n' }))
    const url = new URL(response.headers.get('location')!)
    const params = new URLSearchParams(url.hash === '' ? url.search : url.hash.slice(1))
    assert.equal(params.get('error'), 'unsupported_response_type', response_type)
    assert.equal(params.get('error_description'), `response_type sent: ${response_type}; supported: code`)
  }
  for (const response_mode of ['fragment', 'form_post', 'web_message', 'jwt', 'query.jwt']) {
    const { error, error_description } = await answerOf(browser, ask(app.client, { response_mode }))
    assert.equal(error, 'unsupported_response_mode')
    assert.equal(error_description, `response_mode sent: ${response_mode}; supported: query`)
  }
  for (const disguised of ['x=%zz&response%5Fmode=fragment', 'response_mode=query&response_mode=form_post']) {
    const { error } = await answerOf(browser, `${ask(app.client)}&${disguised}`)
    assert.equal(error, 'unsupported_response_mode', disguised)
  }
  assert.equal((await answerOf(browser, ask(app.client, { request: 'x' }))).error, 'request_not_supported')
  assert.equal(
    (await answerOf(browser, ask(app.client, { request_uri: 'x' }))).error,
    'request_uri_not_supported',
  )
  const grants = [
    'password',
    'client_credentials',
    'implicit',
    'urn:ietf:params:oauth:grant-type:device_code',
  ]
  for (const grant_type of grants) {
    const { error, error_description } = await errorIn(await exchange(site, app, 'x', { grant_type }))
    assert.equal(error, 'unsupported_grant_type')
    assert.equal(
      error_description,
      `grant_type sent: ${grant_type}; supported: authorization_code, refresh_token`,
    )
  }
  for (const path of ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']) {
    const metadata = (await (await fetch(site.issuer + path)).json()) as Record<string, unknown>
    assert.equal(metadata.issuer, site.issuer)
    assert.deepEqual(metadata.response_types_supported, ['code'])
    assert.deepEqual(metadata.response_modes_supported, ['query'])
    assert.deepEqual(metadata.grant_types_supported, ['authorization_code', 'refresh_token'])
    assert.deepEqual(metadata.code_challenge_methods_supported, ['S256'])
    assert.deepEqual(metadata.id_token_signing_alg_values_supported, ['ES256'])
    for (const name of Object.keys(metadata))
      assert.doesNotMatch(name, /device|registration|pushed|dpop|backchannel/)
  }
})

test('a client that names no scopes asks for those that it has registered, and OpenID is left alone without openid', async t => {
  const site = await startSite(t)
  const { app, browser, account } = await visit(site)
  const path = authorizationPath(app.client, { nonce: 'n' })
  const code = (await authorize(site, browser, path)).searchParams.get('code')!
  const tokens = await tokensIn(await exchange(site, app, code))
  assert.equal(tokens.scope, app.client.scopes.join(' '))
  const claims = JSON.parse(Buffer.from(tokens.id_token.split('.')[1]!, 'base64url').toString())
  assert.equal((claims as { nonce: string }).nonce, 'n')
  const plain = await codeOf(site, browser, app.client, { scope: 'user.read', nonce: 'n', acr_values: 'x' })
  const without = await tokensIn(await exchange(site, app, plain))
  assert.deepEqual([without.scope, without.id_token], ['user.read', undefined])
  const once = await register(site, account, { grantTypes: ['authorization_code'] })
  const { error } = await errorIn(await refresh(site, once, tokens.refresh_token))
  assert.equal(error, 'unauthorized_client')
})

test('PKCE with S256 is required of public clients, and plain is refused of all', async t => {
  const site = await startSite(t)
  const { app, browser, account } = await visit(site)
  const open = await register(site, account, { tokenEndpointAuthMethod: 'none' })
  const { verifier, challenge } = pkce()
  assert.match((await answerOf(browser, ask(open.client))).error_description!, /PKCE/)
  for (const { client } of [open, app]) {
    const plain = { code_challenge: verifier, code_challenge_method: 'plain' }
    assert.equal((await answerOf(browser, ask(client, plain))).error, 'invalid_request')
    assert.equal(
      (await answerOf(browser, ask(client, { code_challenge: challenge }))).error,
      'invalid_request',
    )
  }
  const s256 = { code_challenge: challenge, code_challenge_method: 'S256' }
  const code = await codeOf(site, browser, open.client, s256)
  assert.equal((await errorIn(await exchange(site, open, code))).error, 'invalid_grant')
  await tokensIn(await exchange(site, open, code, { code_verifier: verifier }))
})

test('consent is remembered until scopes grow, and asked for again where the app wants that', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site)
  await authorize(site, browser, ask(app.client, { scope: 'openid user.read' }))
  assert.ok((await answerOf(browser, ask(app.client, { scope: 'openid user.read' }))).code)
  assert.ok((await answerOf(browser, ask(app.client, { scope: 'openid', prompt: 'none' }))).code)
  assert.equal((await answerOf(browser, ask(app.client, { prompt: 'none' }))).error, 'consent_required')
  const grown = await askedOf(site, browser, ask(app.client))
  assert.equal(grown.kind, 'consent')
  for (const prompt of ['consent', 'select_account'])
    await pageOf(browser, ask(app.client, { scope: 'openid', prompt }))
})

/** Changes the redirect URIs of a client. */
async function redirectTo({ store }: Site, { account, id }: OAuthClient, redirectUris: readonly string[]) {
  const { record, version } = (await store.oauthClients.get(account, id))!
  assert.ok(await store.oauthClients.replace({ ...record, redirectUris }, version))
}

const [management, ai] = [({ issuer }: Site) => `${issuer}/client/v4`, 'https://ai.example/'] as const

test('a consent counts only for redirects to hosts that the person has seen', async t => {
  const site = await startSite(t)
  const { account, user, app, browser } = await visit(site)
  await authorize(site, browser, ask(app.client))
  const added = 'https://evil.example/callback'
  const beside = 'https://app.example/other?x=1'
  const port = 'https://app.example:8443/callback'
  await redirectTo(site, app.client, [callback, beside, added, port])
  assert.ok((await answerOf(browser, ask(app.client))).code)
  const elsewhere = await browser.get(ask(app.client, { redirect_uri: beside }))
  assert.match(elsewhere.headers.get('location')!, /^https:\/\/app\.example\/other\?x=1&code=/)
  for (const redirect_uri of [added, port]) {
    const silent = await browser.get(ask(app.client, { redirect_uri, prompt: 'none' }))
    const refused = new URL(silent.headers.get('location')!).searchParams
    assert.equal(refused.get('error'), 'consent_required')
    assert.match(
      refused.get('error_description')!,
      /what they allowed before was for redirects to other hosts$/,
    )
    const asking = await askedOf(site, browser, ask(app.client, { redirect_uri }))
    assert.ok(asking.kind === 'consent')
    assert.equal(asking.redirectUri, redirect_uri)
    assert.partialDeepStrictEqual(asking.remembered, { account, isHostSeen: false })
  }
  // To have seen it once is enough, and what was seen before stays so.
  await authorize(site, browser, ask(app.client, { redirect_uri: added }))
  for (const redirect_uri of [added, callback]) {
    const { searchParams } = new URL(
      (await browser.get(ask(app.client, { redirect_uri }))).headers.get('location')!,
    )
    assert.ok(searchParams.get('code'), redirect_uri)
  }
  const { items } = await site.store.oauthGrants.ofUser(user.id, { offset: 0, limit: 9 })
  assert.deepEqual(
    items.map(({ redirectHosts }) => redirectHosts),
    [['app.example', 'evil.example']],
  )
  // What one person has seen, another has not.
  const other = new Browser(site.issuer).signIn(await makeUser(site, account))
  await authorize(site, other, ask(app.client))
  await pageOf(other, ask(app.client, { redirect_uri: added }))
})

test('programs on the device are one host, whatever their port', async t => {
  const site = await startSite(t)
  const uris = ['http://127.0.0.1/cb', 'http://[::1]/cb', 'http://localhost:1/cb']
  const { app, browser } = await visit(site, { redirectUris: [callback, ...uris] })
  await authorize(site, browser, ask(app.client, { redirect_uri: 'http://127.0.0.1:5000/cb' }))
  for (const redirect_uri of [...uris, 'http://127.0.0.1:6000/cb', 'http://[::1]:7000/cb']) {
    const sent = await browser.get(ask(app.client, { redirect_uri }))
    assert.ok(sent.headers.get('location')!.startsWith(`${redirect_uri}?code=`), redirect_uri)
  }
  await pageOf(browser, ask(app.client))
})

test('consent for one resource does not cover another', async t => {
  const site = await startSite(t)
  const { account, user, app, browser } = await visit(site, {
    scopes: ['ai_gateway.run', 'ai_gateway.read', 'members.read', 'user.read'],
  })
  const of = (scope: string, resource: string | null, more = {}) =>
    authorizationPath(app.client, { scope, ...(resource !== null && { resource }), ...more })
  const isAsked = async (path: string) => {
    const silent = await answerOf(browser, `${path}&prompt=none`)
    if (silent.error === undefined) return false
    assert.equal(silent.error, 'consent_required')
    return true
  }
  const mine = management(site)
  const asking = await askedOf(site, browser, of('members.read', mine))
  assert.deepEqual(asking.kind === 'consent' && asking.apis, ['management'])
  await authorize(site, browser, of('members.read', mine))
  assert.equal(await isAsked(of('members.read', mine)), false)
  assert.equal(await isAsked(of('members.read', ai)), true)
  assert.equal(await isAsked(of('members.read', null)), true)
  const other = await askedOf(site, browser, of('ai_gateway.run', ai))
  assert.ok(other.kind === 'consent')
  assert.deepEqual([other.apis, other.remembered], [['ai'], null])
  await authorize(site, browser, of('ai_gateway.run', ai))
  // No product of the scopes of one and the resource of the other.
  for (const [scope, resource] of [
    ['ai_gateway.run', mine],
    ['members.read', ai],
    ['members.read ai_gateway.run', mine],
    ['members.read ai_gateway.run', ai],
    ['ai_gateway.run', null],
  ] as const)
    assert.equal(await isAsked(of(scope, resource)), true, `${scope} at ${resource}`)
  const both = `${of('ai_gateway.run', ai)}&resource=${encodeURIComponent(mine)}`
  const turned = `${of('ai_gateway.run', mine)}&resource=${encodeURIComponent(ai)}`
  assert.equal(await isAsked(both), true)
  const { items } = await site.store.oauthGrants.ofUser(user.id, { offset: 0, limit: 9 })
  assert.deepEqual(
    items.map(({ scopes, resource }) => [scopes, resource]),
    [
      [['members.read'], [mine]],
      [['ai_gateway.run'], [ai]],
    ],
  )
  // A code for two resources, in whichever order; either of them is covered by what was seen.
  await authorize(site, browser, both)
  assert.equal(await isAsked(turned), false)
  await authorize(site, browser, `${turned}&prompt=consent`)
  assert.equal(await isAsked(of('ai_gateway.run', mine)), false)
  assert.equal(await isAsked(of('members.read', ai)), true)
  // All APIs include each; scopes that are added there stay there.
  await authorize(site, browser, of('user.read', null))
  for (const resource of [null, mine, ai]) assert.equal(await isAsked(of('user.read', resource)), false)
  assert.equal(await isAsked(of('members.read user.read', mine)), true)
  await authorize(site, browser, of('ai_gateway.read', mine))
  assert.equal(await isAsked(of('members.read ai_gateway.read', mine)), false)
  assert.equal(await isAsked(of('ai_gateway.read', null)), true)
  assert.equal((await site.store.oauthGrants.ofUser(user.id, { offset: 0, limit: 9 })).total, 4)
  // To end one ends what it alone covers.
  const [first] = items
  await site.store.oauthGrants.remove(account, first!.id)
  assert.equal(await isAsked(of('members.read', mine)), true)
  assert.equal(await isAsked(of('ai_gateway.run', ai)), false)
})

test('a consent from before resources were kept apart opens what it did, and answers no further request', async t => {
  const site = await startSite(t)
  const { account, user, app, browser } = await visit(site, {
    scopes: ['ai_gateway.run', 'members.read', 'offline_access'],
  })
  const of = (scope: string) => authorizationPath(app.client, { scope: `${scope} offline_access` })
  const url = await authorize(site, browser, of('members.read'))
  const tokens = await tokensIn(await exchange(site, app, url.searchParams.get('code')!))
  const [found] = (await site.store.oauthGrants.list(account, { offset: 0, limit: 9 })).items
  const { version } = (await site.store.oauthGrants.get(account, found!.id))!
  // As another version wrote it: of which resource each scope was is not known.
  const { redirectHosts: _, ...old } = {
    ...found!,
    scopes: ['members.read', 'ai_gateway.run', 'offline_access'],
  }
  assert.ok(await site.store.oauthGrants.replace(old, version))
  const next = await tokensIn(await refresh(site, app, tokens.refresh_token))
  const held = await site.verifier.verify(next.access_token, null, 'management')
  assert.ok(typeof held === 'object')
  assert.deepEqual(held.actor!.scopes, ['members.read', 'offline_access'])
  assert.equal((await answerOf(browser, `${of('members.read')}&prompt=none`)).error, 'consent_required')
  const asking = await askedOf(site, browser, of('members.read'))
  assert.equal(asking.kind === 'consent' && asking.remembered, null)
  await authorize(site, browser, of('members.read'))
  assert.ok((await answerOf(browser, of('members.read'))).code)
  assert.equal((await answerOf(browser, `${of('ai_gateway.run')}&prompt=none`)).error, 'consent_required')
  const { items } = await site.store.oauthGrants.ofUser(user.id, { offset: 0, limit: 9 })
  assert.deepEqual(
    items.map(({ scopes }) => scopes).toSorted(),
    [
      ['members.read', 'ai_gateway.run', 'offline_access'],
      ['offline_access', 'members.read'],
    ].toSorted(),
  )
  await tokensIn(await refresh(site, app, next.refresh_token))
})

test('a remembered consent does not lead on while the account requires a second factor that the person lacks', async t => {
  const site = await startSite(t)
  const { account, app, browser } = await visit(site)
  await authorize(site, browser, ask(app.client))
  await site.store.accounts.update(account, { enforceTwoFactor: true })
  const asking = await askedOf(site, browser, ask(app.client))
  assert.ok(asking.kind === 'refused')
  assert.equal(asking.reason, 'no second factor')
  const silent = await answerOf(browser, ask(app.client, { prompt: 'none' }))
  assert.deepEqual([silent.error, silent.code], ['consent_required', undefined])
  await site.store.accounts.update(account, { enforceTwoFactor: false })
  assert.ok((await answerOf(browser, ask(app.client))).code)
})

test('a public client that any program on the device can pose as is confirmed each time, however much was allowed before', async t => {
  const site = await startSite(t)
  const shared = [
    'com.example.app:/cb',
    'http://127.0.0.1/cb',
    'http://localhost:1/cb',
    'https://localhost/cb',
    'https://app.localhost:8443/cb',
    'https://127.8.0.1/cb',
    'https://[::1]:8443/cb',
  ]
  const redirectUris = [callback, ...shared]
  const { account, app, browser } = await visit(site, { redirectUris, tokenEndpointAuthMethod: 'none' })
  const code_challenge = { code_challenge: pkce().challenge, code_challenge_method: 'S256' }
  const path = (client: OAuthClient, redirect_uri: string, more = {}) =>
    ask(client, { ...code_challenge, redirect_uri, ...more })
  await authorize(site, browser, path(app.client, callback))
  assert.ok((await answerOf(browser, path(app.client, callback))).code)
  for (const uri of [...shared, 'http://127.0.0.1:5000/cb']) {
    const uid = await pageOf(browser, path(app.client, uri))
    const asking = await site.oauth.interactions.load(uid, browser.request)
    assert.ok(asking.kind === 'consent')
    assert.equal(asking.remembered?.account, account, uri)
    const decision = { kind: 'allow', account, optional: [] } as const
    const finished = await site.oauth.interactions.finish(uid, browser.request, decision)
    assert.ok(finished.kind === 'resume')
    const back = (await browser.get(finished.location)).headers.get('location')!
    assert.ok(back.startsWith(uri) && new URL(back).searchParams.has('code'), back)
    const silent = await browser.get(path(app.client, uri, { prompt: 'none' }))
    const refused = new URL(silent.headers.get('location')!).searchParams
    assert.equal(refused.get('error'), 'consent_required')
    assert.match(refused.get('error_description')!, /^the person must confirm: /)
  }
  const own = await register(site, account, { redirectUris })
  await authorize(site, browser, ask(own.client, { redirect_uri: shared[2]! }))
  const sent = await browser.get(ask(own.client, { redirect_uri: shared[1]! }))
  assert.match(sent.headers.get('location')!, /^http:\/\/127\.0\.0\.1\/cb\?code=/, 'it has a secret')
})

test('an optional scope that is unticked is left out, and not asked for again', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site, { optionalScopes: ['user.read'] })
  const uid = await pageOf(browser, ask(app.client))
  const asking = await site.oauth.interactions.load(uid, browser.request)
  assert.ok(asking.kind === 'consent')
  assert.deepEqual(
    asking.scopes.filter(({ isOptional }) => isOptional).map(({ id }) => id),
    ['user.read'],
  )
  const account = asking.accounts[0]!.id
  const decision = { kind: 'allow', account, optional: [] } as const
  const finished = await site.oauth.interactions.finish(uid, browser.request, decision)
  assert.ok(finished.kind === 'resume')
  const { code } = await answerOf(browser, finished.location)
  const tokens = await tokensIn(await exchange(site, app, code!))
  assert.equal(tokens.scope, 'openid offline_access ai_gateway.run')
  assert.ok((await answerOf(browser, ask(app.client))).code)
})

test('denying consent redirects to the app with access_denied and nothing else', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site)
  const uid = await pageOf(browser, ask(app.client))
  const finished = await site.oauth.interactions.finish(uid, browser.request, { kind: 'deny' })
  assert.ok(finished.kind === 'resume')
  const { error, error_description } = await answerOf(browser, finished.location)
  assert.deepEqual([error, error_description], ['access_denied', 'the person did not allow it'])
  assert.equal((await browser.get(finished.location)).status, 400)
  const [event] = await eventsOf(site, app.client)
  assert.deepEqual([event?.step, event?.error], ['consent', 'access_denied'])
})

test('only accounts where the roles of the person reach the scopes can be chosen', async t => {
  const site = await startSite(t)
  const { app, browser, user, account } = await visit(site, { visibility: 'public' })
  const { members } = site.store
  const join = async (name: string, ids: readonly string[]) => {
    const now = Date.now()
    const id = await makeAccount(site, name)
    await makeUser(site, id)
    const part = { user: user.id, status: 'accepted', roles: ids, isSuper: false } as const
    await members.insert({
      account: id,
      id: id.split('').reverse().join(''),
      ...part,
      createdAt: now,
      modifiedAt: now,
    })
    return id
  }
  const able = await join('Able', [roles.find(({ name }) => name === 'AI Gateway Admin')!.id])
  const unable = await join('Unable', [roles.find(({ name }) => name === 'Administrator Read Only')!.id])
  const uid = await pageOf(browser, ask(app.client))
  const asking = await site.oauth.interactions.load(uid, browser.request)
  assert.ok(asking.kind === 'consent')
  assert.deepEqual(asking.accounts.map(({ name }) => name).sort(), ['Able', 'Shop'])
  for (const chosen of [unable, '0'.repeat(32), null]) {
    const decision = { kind: 'allow', account: chosen, optional: [] } as const
    assert.deepEqual(await site.oauth.interactions.finish(uid, browser.request, decision), {
      kind: 'invalid',
    })
  }
  await authorize(site, browser, ask(app.client), able)
  assert.ok((await answerOf(browser, ask(app.client))).code)
  await authorize(site, browser, ask(app.client, { prompt: 'consent' }), account)
  // By now it could be either.
  await pageOf(browser, ask(app.client))
})

test('a private client is for members of its account; a public one for all users', async t => {
  const site = await startSite(t)
  const { app, browser, user, account } = await visit(site)
  const stranger = await makeUser(site, await makeAccount(site, 'Elsewhere'))
  const outside = new Browser(site.issuer).signIn(stranger)
  const refused = await askedOf(site, outside, ask(app.client))
  assert.ok(refused.kind === 'refused')
  assert.equal(refused.reason, 'not a member')
  const tokens = await tokensOf(site, browser, app)
  const member = (await site.store.members.find(account, user.id))!
  await makeUser(site, account)
  await site.store.members.remove(account, member.record.id)
  assert.equal((await askedOf(site, browser, ask(app.client))).kind, 'refused')
  const { error_description } = await errorIn(await refresh(site, app, tokens.refresh_token))
  assert.equal(error_description, 'the user is no member of the account')
  const kept = (await site.store.oauthClients.get(account, app.client.id))!
  await site.store.oauthClients.replace({ ...kept.record, visibility: 'public' }, kept.version)
  const nobody = new Browser(site.issuer).signIn(await makeUser(site, null))
  const identity = ask(app.client, { scope: 'openid user.read' })
  const asking = await askedOf(site, nobody, identity)
  assert.deepEqual(asking.kind === 'consent' && asking.accounts, [])
  const code = (await authorize(site, nobody, identity)).searchParams.get('code')!
  const { access_token } = await tokensIn(await exchange(site, app, code))
  const held = await site.verifier.verify(access_token, null, 'management')
  assert.equal(typeof held === 'object' && held.account, everybody)
  const noRole = await askedOf(site, nobody, ask(app.client))
  assert.equal(noRole.kind === 'refused' && noRole.reason, 'no account')
  const noted = (await eventsOf(site, app.client)).filter(({ error }) => error === 'access_denied')
  assert.deepEqual([...new Set(noted.map(({ reason }) => reason))].sort(), [
    'the client is private, and the user is no member of its account',
    'the roles of the user reach the scopes in no account',
  ])
})

test('prompt, max_age and login_hint decide who has to sign in, and how lately', async t => {
  const site = await startSite(t)
  const { app, user } = await visit(site)
  const nobody = new Browser(site.issuer)
  assert.equal((await answerOf(nobody, ask(app.client, { prompt: 'none' }))).error, 'login_required')
  const first = await askedOf(site, nobody, ask(app.client, { login_hint: 'ada@shop.example' }))
  assert.deepEqual(first.kind === 'sign_in' && [first.loginHint, first.isFresh], ['ada@shop.example', false])
  const old = Date.now() - 600_000
  for (const more of [{ prompt: 'login' }, { max_age: '60' }, { max_age: '0' }]) {
    const browser = new Browser(site.issuer).signIn(user, old)
    const uid = await pageOf(browser, ask(app.client, more))
    const asking = await site.oauth.interactions.load(uid, browser.request)
    assert.equal(asking.kind === 'sign_in' && asking.isFresh, true, JSON.stringify(more))
    browser.signIn(user, Date.now() + 5)
    const resumed = await site.oauth.interactions.load(uid, browser.request)
    assert.ok(resumed.kind === 'resume')
    const next = (await browser.get(resumed.location)).headers.get('location')!
    assert.match(next, /^\/oauth2\/consent\//)
    assert.equal((await site.oauth.interactions.load(next.slice(16), browser.request)).kind, 'consent')
  }
  const lately = new Browser(site.issuer).signIn(user, old)
  assert.equal((await askedOf(site, lately, ask(app.client, { max_age: '3600' }))).kind, 'consent')
})

const minute = 60_000

test('the time of a sign-in at a provider counts for max_age and prompt', async t => {
  const site = await startSite(t)
  const { app, user } = await visit(site)
  const ages = [10 * minute, 10 * 60 * minute, null]
  /** Signs somebody in whom the provider asked so long ago, once an app has asked for a sign-in. */
  const arrive = async (age: number | null, more: Record<string, string>) => {
    const browser = new Browser(site.issuer)
    const uid = await pageOf(browser, ask(app.client, more))
    const first = await site.oauth.interactions.load(uid, browser.request)
    browser.signIn(user, age === null ? null : Date.now() - age)
    const second = await site.oauth.interactions.load(uid, browser.request)
    const shown = [first, second].map(one => (one.kind === 'sign_in' ? `fresh: ${one.isFresh}` : one.kind))
    return { browser, uid, shown }
  }
  for (const age of ages) {
    assert.deepEqual((await arrive(age, {})).shown, ['fresh: false', 'resume'])
    assert.deepEqual((await arrive(age, { prompt: 'login' })).shown, ['fresh: true', 'fresh: true'])
    assert.deepEqual((await arrive(age, { max_age: '0' })).shown, ['fresh: true', 'fresh: true'])
    const isYoung = age === 10 * minute
    const { shown } = await arrive(age, { max_age: '3600' })
    assert.deepEqual(shown, ['fresh: false', isYoung ? 'resume' : 'fresh: true'])
    const both = await arrive(age, { prompt: 'login', max_age: '3600' })
    assert.deepEqual(both.shown, ['fresh: true', 'fresh: true'])
  }
  for (const [age, asked] of [
    [null, {}],
    [10 * minute, { max_age: '3600' }],
  ] as const) {
    const at = age === null ? null : Date.now() - age
    const browser = new Browser(site.issuer).signIn(user, at)
    const code = await codeOf(site, browser, app.client, asked)
    const { id_token } = await tokensIn(await exchange(site, app, code))
    const claims = JSON.parse(Buffer.from(id_token.split('.')[1]!, 'base64url').toString())
    assert.equal(claims.auth_time, at === null ? undefined : Math.floor(at / 1_000))
  }
  const unknown = new Browser(site.issuer).signIn(user, null)
  const none = await answerOf(unknown, ask(app.client, { prompt: 'none', max_age: '99999999999' }))
  assert.equal(none.error, 'login_required')
})

test('an interaction can be completed only by the browser and user that it was started for', async t => {
  const site = await startSite(t)
  const { app, browser, account, user } = await visit(site)
  const uid = await pageOf(browser, ask(app.client))
  const thief = new Browser(site.issuer).signIn(await makeUser(site, account))
  assert.deepEqual(await site.oauth.interactions.load(uid, thief.request), { kind: 'gone' })
  const decision = { kind: 'allow', account, optional: [] } as const
  assert.deepEqual(await site.oauth.interactions.finish(uid, thief.request, decision), { kind: 'gone' })
  const finished = await site.oauth.interactions.finish(uid, browser.request, decision)
  assert.ok(finished.kind === 'resume')
  assert.equal((await thief.get(finished.location)).status, 400)
  // Who is signed in by now has consented to nothing.
  browser.signIn(await makeUser(site, account))
  const location = (await browser.get(finished.location)).headers.get('location')!
  assert.match(location, /^\/oauth2\/consent\//)
  browser.signIn(user)
})

test('a sign-in that another one followed counts for nobody', async t => {
  const site = await startSite(t)
  const { app, account } = await visit(site)
  const browser = new Browser(site.issuer)
  const uid = await pageOf(browser, ask(app.client))
  browser.signIn(await makeUser(site, account))
  const resumed = await site.oauth.interactions.load(uid, browser.request)
  assert.ok(resumed.kind === 'resume')
  browser.signIn(await makeUser(site, account))
  const location = (await browser.get(resumed.location)).headers.get('location')!
  const asking = await site.oauth.interactions.load(location.slice(16), browser.request)
  assert.equal(asking.kind, 'consent')
})

test('after signing out, the cookie of another request does not restore the session', async t => {
  const site = await startSite(t)
  const { app, user, browser } = await visit(site)
  await tokensOf(site, browser, app)
  // A request that waits for the sign-in of the user, who then goes.
  const shared = new Browser(site.issuer)
  const [next, old] = [await pageOf(shared, ask(app.client)), await pageOf(shared, ask(app.client))]
  shared.signIn(user)
  const resumed = await site.oauth.interactions.load(old, shared.request)
  assert.ok(resumed.kind === 'resume')
  for (const path of [`/oauth2/auth/${next}`, `/oauth2/auth/${old}`]) {
    const cookie = `gatehouse_resume=${old}; gatehouse_consent=${old}`
    const response = await fetch(site.issuer + path, { redirect: 'manual', headers: { cookie } })
    const location = response.headers.get('location')
    assert.equal(location?.includes('code=') ?? false, false, `${path} leads to ${location}`)
  }
})

test('behind TLS, cookies are secure and every URL is that of the issuer', async t => {
  const site = await startSite(t, { issuer: 'https://id.example' })
  const { app, user } = await visit(site)
  const cookie = `person=${user.id}.${Date.now()}`
  const get = (path: string, more = '') =>
    fetch(site.issuer + path, {
      redirect: 'manual',
      headers: { cookie: `${cookie}; ${more}`, host: 'evil.example' },
    })
  const first = await get(ask(app.client))
  const set = first.headers.getSetCookie()
  assert.equal(set.length, 2)
  for (const one of set) assert.match(one, /^__Secure-gatehouse_(consent|resume)=.*; secure; httponly/i)
  const uid = first.headers.get('location')!.slice('/oauth2/consent/'.length)
  const own = { headers: { cookie: `${cookie}; __Secure-gatehouse_consent=${uid}` } } as never
  const asking = await site.oauth.interactions.load(uid, own)
  assert.ok(asking.kind === 'consent')
  const account = asking.accounts[0]!.id
  const finished = await site.oauth.interactions.finish(uid, own, { kind: 'allow', account, optional: [] })
  assert.ok(finished.kind === 'resume')
  assert.equal(finished.location, `https://id.example/oauth2/auth/${uid}`)
  const last = await get(`/oauth2/auth/${uid}`, `__Secure-gatehouse_resume=${uid}`)
  const url = new URL(last.headers.get('location')!)
  assert.equal(url.searchParams.get('iss'), 'https://id.example')
  const tokens = await tokensIn(await exchange(site, app, url.searchParams.get('code')!))
  const claims = JSON.parse(Buffer.from(tokens.id_token.split('.')[1]!, 'base64url').toString())
  assert.equal((claims as { iss: string }).iss, 'https://id.example')
})

test('a form that another site sends becomes a link, so that it is known who is signed in', async t => {
  const site = await startSite(t)
  const { app } = await visit(site)
  const response = await fetch(`${site.issuer}/oauth2/auth`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(ask(app.client).split('?')[1]),
  })
  assert.equal(response.status, 303)
  assert.equal(
    new URL(response.headers.get('location')!, site.issuer).search,
    `?${ask(app.client).split('?')[1]}`,
  )
})

test('a redirect URI that the client drops while a person decides gets neither a code nor an error', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site)
  const drop = async () => {
    const { account, id } = app.client
    const { record, version } = (await site.store.oauthClients.get(account, id))!
    await site.store.oauthClients.replace({ ...record, redirectUris: ['https://app.example/new'] }, version)
  }
  const open = await pageOf(browser, ask(app.client))
  const decided: string[] = []
  for (const kind of ['deny', 'allow'] as const) {
    const uid = await pageOf(browser, ask(app.client))
    const asked = await site.oauth.interactions.load(uid, browser.request)
    assert.ok(asked.kind === 'consent')
    const decision = { kind, account: asked.accounts[0]!.id, optional: [] }
    const finished = await site.oauth.interactions.finish(uid, browser.request, decision)
    assert.ok(finished.kind === 'resume')
    decided.push(finished.location)
  }
  await drop()
  assert.equal((await site.oauth.interactions.load(open, browser.request)).kind, 'gone')
  for (const location of decided) {
    const response = await browser.get(location)
    assert.deepEqual([response.status, response.headers.get('location')], [400, null])
  }
})

test('requests that wait for a person are bounded for each address, and for who is signed in apart', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site)
  const begin = () => new Browser(site.issuer).get(ask(app.client))
  const most = 300
  for (let i = 0; i < most; i++)
    assert.match((await begin()).headers.get('location')!, /^\/oauth2\/consent\//)
  const refused = await new Browser(site.issuer).get(ask(app.client))
  assert.deepEqual([refused.status, refused.headers.get('location')], [429, null])
  assert.match(await refused.text(), /temporarily_unavailable[\s\S]*too many requests .*; try again in \d+ s/)
  await pageOf(browser, ask(app.client))
  assert.deepEqual(await eventsOf(site, app.client), [])
})

/** Requests for every error that comes before a person has signed in, by what it is. */
const early: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  invalid_scope: [{ scope: 'nothing' }, { scope: 'zones.read' }],
  invalid_request: [
    { code_challenge_method: 'S256' },
    { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' },
    { prompt: 'none login' },
    { prompt: 'nothing' },
    { max_age: '-1' },
    { id_token_hint: 'x' },
  ],
  unsupported_response_type: [
    ...['token', 'id_token', 'code id_token', 'none', 'nothing'].map(type => ({
      response_type: type,
      nonce: 'n',
    })),
  ],
  unsupported_response_mode: ['fragment', 'form_post', 'web_message', 'jwt'].map(mode => ({
    response_mode: mode,
  })),
  invalid_target: [{ resource: 'https://evil.example/' }, { resource: 'x' }],
  request_not_supported: [{ request: 'x' }],
  request_uri_not_supported: [{ request_uri: 'x' }],
  registration_not_supported: [{ registration: 'x' }],
}

test('until a member has signed in, every error of a private client is a page: its link leads nowhere', async t => {
  const site = await startSite(t)
  const { app, browser, account } = await visit(site)
  const stranger = new Browser(site.issuer).signIn(await makeUser(site, await makeAccount(site, 'Elsewhere')))
  const left = await makeUser(site, account)
  const member = (await site.store.members.find(account, left.id))!
  await site.store.members.remove(account, member.record.id)
  const invited = await makeUser(site, account)
  const invitation = (await site.store.members.find(account, invited.id))!
  await site.store.members.replace({ ...invitation.record, status: 'pending' }, invitation.version)
  const outside = [
    new Browser(site.issuer),
    stranger,
    ...[left, invited].map(user => new Browser(site.issuer).signIn(user)),
  ]
  for (const [error, requests] of Object.entries(early))
    for (const request of requests) {
      const path = ask(app.client, request)
      for (const visitor of outside) {
        const response = await visitor.get(path)
        assert.deepEqual([response.status, response.headers.get('location')], [400, null], path)
        assert.match(response.headers.get('content-type')!, /^text\/html/)
        const body = await response.text()
        assert.match(body, new RegExp(`<code>${error}</code>|/oauth2/errors/${error}`), path)
        assert.doesNotMatch(body, /app\.example\/callback|http-equiv/)
      }
      const told = new URL((await browser.get(path)).headers.get('location')!)
      const params = new URLSearchParams(told.hash === '' ? told.search : told.hash.slice(1))
      assert.deepEqual([told.origin, params.get('error')], ['https://app.example', error], path)
    }
})

test('an app whose publisher is known gets every error, and so does one that asks without a person', async t => {
  const site = await startSite(t)
  const { account } = await visit(site)
  const verification = { ...verificationWith({ status: 'verified', nextCheckAt: null }) }
  const clientUri = 'https://app.example/'
  const open = await register(site, account, { visibility: 'public', clientUri, verification })
  const proven = await register(site, account, { clientUri, verification })
  const nobody = () => new Browser(site.issuer)
  for (const { client } of [open, proven])
    for (const [error, requests] of Object.entries(early))
      for (const request of requests) {
        const { headers } = await nobody().get(ask(client, request))
        assert.match(
          headers.get('location') ?? '',
          new RegExp(`^https://app\\.example/callback[?#].*error=${error}&`),
        )
      }
  const unknown = await register(site, account)
  for (const [more, error] of [
    [{}, 'login_required'],
    [{ scope: 'nothing' }, 'invalid_scope'],
  ] as const)
    assert.equal((await answerOf(nobody(), ask(unknown.client, { ...more, prompt: 'none' }))).error, error)
  // A proof that was taken away, or has not come yet, vouches for nobody.
  for (const more of [
    { clientUri: null, verification },
    { clientUri, verification: verificationWith({ status: 'in_progress' }) },
    { clientUri, verification: verificationWith({ status: 'failed' }) },
  ]) {
    const { client } = await register(site, account, more)
    assert.equal((await nobody().get(ask(client, { scope: 'nothing' }))).headers.get('location'), null)
  }
})

test('a decision on a private client redirects back to it, unless the user has signed out meanwhile', async t => {
  const site = await startSite(t)
  const { app, user } = await visit(site)
  const decided = async (isStillThere: boolean) => {
    const browser = new Browser(site.issuer).signIn(user)
    const uid = await pageOf(browser, ask(app.client))
    const finished = await site.oauth.interactions.finish(uid, browser.request, { kind: 'deny' })
    assert.ok(finished.kind === 'resume')
    if (!isStillThere) site.signedOut.add(user.id)
    const response = await browser.get(finished.location)
    return response.headers.get('location')
  }
  assert.match((await decided(true)) ?? '', /^https:\/\/app\.example\/callback\?error=access_denied&/)
  assert.equal(await decided(false), null)
})

test('a code that is on its way while a person signs out goes nowhere', async t => {
  const site = await startSite(t)
  const { app, browser, user } = await visit(site)
  await codeOf(site, browser, app.client)
  const { credentials } = site.store
  const codes = () => credentials.list({ user: user.id }, 'authorization_code', 10)
  const before = await codes()
  const put = credentials.put.bind(credentials)
  credentials.put = async credential => {
    if (credential.kind === 'authorization_code') site.signedOut.add(user.id)
    return put(credential)
  }
  const { error, error_description, code } = await answerOf(browser, ask(app.client))
  assert.deepEqual(
    [error, error_description, code],
    ['login_required', 'the person signed out meanwhile', undefined],
  )
  assert.deepEqual(await codes(), before)
})
