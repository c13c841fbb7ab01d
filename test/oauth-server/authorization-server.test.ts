// The authorization server as apps and browsers meet it, over HTTP, with each store.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Sessions } from '../../src/people/sessions/sessions.ts'
import { everybody, type User } from '../../src/store/records/people.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'
import {
  codeOf,
  errorIn,
  eventsOf,
  exchange,
  refresh,
  scope,
  send,
  tokensIn,
  tokensOf,
  userinfo,
  visit,
} from './app.ts'
import type { AuthorizationEvent } from '../../src/store/records/authorization-event.ts'
import { authorizationPath, Browser, callback, makeUser, pkce, register, startSite } from './site.ts'

const stores: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  SQLite: async () => 'sqlite::memory:',
  Redis: async t => (await startRedis(t)).url,
}

for (const [name, open] of Object.entries(stores)) {
  const start = async (t: TestContext) => startSite(t, { url: await open(t) })

  test(`${name}: a code becomes tokens that tell who the user is, and a refresh token the next ones`, async t => {
    const site = await start(t)
    const { user, app, browser, account } = await visit(site)
    const code = await codeOf(site, browser, app.client, { nonce: 'n' })
    const tokens = await tokensIn(await exchange(site, app, code))
    assert.match(tokens.access_token, /^svco_[\w-]{60}$/)
    assert.match(tokens.refresh_token, /^svcr_[\w-]{49}$/)
    assert.deepEqual([tokens.scope, tokens.expires_in], [scope, 3_600])
    const who = await (await userinfo(site, tokens.access_token)).json()
    assert.deepEqual(who, { sub: user.id, account, name: 'Ada', given_name: 'Ada' })
    const next = await tokensIn(await refresh(site, app, tokens.refresh_token))
    assert.notEqual(next.refresh_token, tokens.refresh_token)
    assert.equal((await userinfo(site, next.access_token)).status, 200)
    assert.deepEqual(site.bugs, [])
  })

  test(`${name}: an app is told the address of a user as long as that is verified, and no other`, async t => {
    const site = await start(t)
    const { app, browser, user } = await visit(site)
    const tokens = await tokensOf(site, browser, app)
    const tell = async (more: Partial<User>) => {
      const { record, version } = (await site.store.users.get(everybody, user.id))!
      await site.store.users.replace({ ...record, ...more }, version)
      const who = (await (await userinfo(site, tokens.access_token)).json()) as Record<string, unknown>
      return [who.email, who.email_verified]
    }
    const identity = { issuer: 'https://id.example', subject: 'ada' }
    const verified = [user.email, true]
    assert.deepEqual(await tell({ identity: null }), [undefined, undefined])
    assert.deepEqual(await tell({ identity }), verified, 'of before it was kept')
    assert.deepEqual(await tell({ emailVerifiedAt: null }), [undefined, undefined])
    assert.deepEqual(await tell({ emailVerifiedAt: 1 }), verified)
    const told = await Promise.all(
      ['access_token', 'refresh_token'].map(async token => {
        const shown = tokens[token as 'access_token']
        return (await send(site, '/oauth2/introspect', app, { token: shown })).text()
      }),
    )
    told.push(...tokens.id_token.split('.').map(part => Buffer.from(part, 'base64url').toString()))
    for (const text of [...told, JSON.stringify(tokens)]) assert.ok(!text.includes(user.email), text)
    const metadata = await (await fetch(`${site.issuer}/.well-known/openid-configuration`)).text()
    assert.match(metadata, /"claims_supported":\[[^\]]*"email_verified"/)
  })

  test(`${name}: of 20 parallel exchanges in two processes one succeeds, and its tokens are revoked`, async t => {
    const site = await start(t)
    const other = await startSite(t, { store: site.store, keys: site.keys })
    const { app, browser } = await visit(site)
    const code = await codeOf(site, browser, app.client)
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        exchange({ ...site, issuer: i % 2 ? site.issuer : other.issuer }, app, code),
      ),
    )
    const won = responses.filter(({ status }) => status === 200)
    assert.equal(won.length, 1)
    const { access_token } = await tokensIn(won[0]!)
    // Also where it was written after the first of the others had it ended.
    await until(async () => (await userinfo(site, access_token)).status === 401)
    for (const lost of responses.filter(({ status }) => status !== 200))
      assert.equal((await errorIn(lost)).error, 'invalid_grant')
  })

  test(`${name}: a code that comes again ends the tokens that it gave, and no others of the consent`, async t => {
    const site = await start(t)
    const { app, browser } = await visit(site)
    const first = await codeOf(site, browser, app.client)
    const second = await codeOf(site, browser, app.client)
    const tokens = await tokensIn(await exchange(site, app, first))
    const others = await tokensIn(await exchange(site, app, second))
    const next = await tokensIn(await refresh(site, app, tokens.refresh_token))
    const replayed = await errorIn(await exchange(site, app, first))
    assert.match(replayed.error_description, /^the code was used before, .* s ago, so the tokens/)
    for (const { access_token } of [tokens, next])
      assert.equal((await userinfo(site, access_token)).status, 401)
    assert.equal((await refresh(site, app, next.refresh_token)).status, 400)
    assert.equal((await userinfo(site, others.access_token)).status, 200)
    await tokensIn(await refresh(site, app, others.refresh_token))
  })

  test(`${name}: tokens that are on their way while a person signs out everywhere do not outlast that`, async t => {
    const site = await start(t)
    const { user, app, browser } = await visit(site)
    const { credentials } = site.store
    const exchangeInStore = credentials.exchange.bind(credentials)
    for (const grant of ['code', 'refresh token']) {
      const code = await codeOf(site, browser, app.client)
      const tokens = grant === 'code' ? null : await tokensIn(await exchange(site, app, code))
      credentials.exchange = async asked => {
        await new Sessions(site.store).endEverything(user.id)
        return exchangeInStore(asked)
      }
      const late = tokens === null ? exchange(site, app, code) : refresh(site, app, tokens.refresh_token)
      const { error, error_description } = await errorIn(await late)
      assert.deepEqual([error, error_description], ['invalid_grant', 'the access was ended meanwhile'], grant)
      for (const kind of ['access_token', 'refresh_token'] as const)
        assert.deepEqual(await credentials.list({ user: user.id }, kind, 10), [])
      credentials.exchange = exchangeInStore
    }
  })

  test(`${name}: a refresh token may come again for 30 s, in place of a response that was lost, and ends its family afterwards`, async t => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const site = await start(t)
    const { app, browser, user } = await visit(site)
    const tokens = await tokensOf(site, browser, app)
    const pairs = await Promise.all(
      Array.from({ length: 20 }, async () => tokensIn(await refresh(site, app, tokens.refresh_token))),
    )
    assert.equal(new Set(pairs.map(({ refresh_token }) => refresh_token)).size, 20)
    t.mock.timers.tick(29_000)
    const late = await tokensIn(await refresh(site, app, tokens.refresh_token))
    // Whatever was lost is good for nothing.
    for (const { access_token } of pairs) assert.equal((await userinfo(site, access_token)).status, 401)
    const kept = await site.store.credentials.list({ user: user.id }, 'refresh_token', 100)
    assert.equal(kept.filter(({ consumedAt }) => consumedAt === null).length, 1)
    assert.equal((await userinfo(site, late.access_token)).status, 200)
    assert.equal((await userinfo(site, tokens.access_token)).status, 200)
    t.mock.timers.tick(2_000)
    const { error, error_description } = await errorIn(await refresh(site, app, tokens.refresh_token))
    assert.equal(error, 'invalid_grant')
    assert.match(error_description, /^the refresh token was used, or replaced, before, 31\.\d s ago/)
    for (const { access_token, refresh_token } of [late, tokens]) {
      assert.equal((await userinfo(site, access_token)).status, 401)
      assert.equal((await refresh(site, app, refresh_token)).status, 400)
    }
  })

  test(`${name}: once the next refresh token was used, the one before it ends the family, however soon it comes`, async t => {
    const site = await start(t)
    const { app, browser } = await visit(site)
    const stolen = await tokensOf(site, browser, app)
    const beside = await tokensOf(site, browser, app)
    const next = await tokensIn(await refresh(site, app, stolen.refresh_token))
    const last = await tokensIn(await refresh(site, app, next.refresh_token))
    const { error, error_description } = await errorIn(await refresh(site, app, stolen.refresh_token))
    assert.equal(error, 'invalid_grant')
    assert.match(
      error_description,
      /^the refresh token was used, or replaced, before, 0\.\d s ago, so the tokens/,
    )
    for (const { access_token, refresh_token } of [stolen, next, last]) {
      assert.equal((await userinfo(site, access_token)).status, 401)
      assert.equal((await refresh(site, app, refresh_token)).status, 400)
    }
    await tokensIn(await refresh(site, app, beside.refresh_token))
  })

  test(`${name}: two chains of one family are one too many: the second to be used ends both`, async t => {
    const site = await start(t)
    const { app, browser } = await visit(site)
    for (const thiefIsFirst of [true, false]) {
      const tokens = await tokensOf(site, browser, app)
      const mine = await tokensIn(await refresh(site, app, tokens.refresh_token))
      const theirs = await tokensIn(await refresh(site, app, tokens.refresh_token))
      const order = thiefIsFirst ? [theirs, mine] : [mine, theirs]
      const responses: Response[] = []
      for (const { refresh_token } of order) responses.push(await refresh(site, app, refresh_token))
      assert.deepEqual(
        responses.map(({ status }) => status),
        [thiefIsFirst ? 200 : 400, 400],
      )
      for (const { access_token } of [tokens, mine, theirs])
        assert.equal((await userinfo(site, access_token)).status, 401)
      if (!thiefIsFirst) continue
      const stolen = await tokensIn(responses[0]!)
      assert.equal((await userinfo(site, stolen.access_token)).status, 401)
      assert.equal((await refresh(site, app, stolen.refresh_token)).status, 400)
    }
  })
}

test('the owner of a client reads why an authorization failed, with both sides', async t => {
  const site = await startSite(t)
  const { app, browser, user, account } = await visit(site)
  const { verifier, challenge } = pkce()
  const ask = (more: Record<string, string>) => browser.get(authorizationPath(app.client, { scope, ...more }))
  await ask({ redirect_uri: 'https://app.example/other' })
  await ask({ scope: 'openid nothing.read members.read' })
  const withPkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  await exchange(site, app, await codeOf(site, browser, app.client, withPkce), {
    code_verifier: pkce().verifier,
  })
  await exchange(site, app, await codeOf(site, browser, app.client), { code_verifier: verifier })
  await exchange(site, app, await codeOf(site, browser, app.client), { redirect_uri: `${callback}/` })
  await exchange(site, { ...app, secret: 'svcs_wrong' }, 'x')
  const post = { ...app.client, tokenEndpointAuthMethod: 'client_secret_post' } as const
  await exchange(site, { ...app, client: post }, 'x')
  const code = await codeOf(site, browser, app.client)
  const { members } = site.store
  const member = (await members.find(account, user.id))!
  await makeUser(site, account)
  await members.remove(account, member.record.id)
  await exchange(site, app, code)
  const events = (await eventsOf(site, app.client)).filter(({ result }) => result === 'failure').reverse()
  const { tail } = app.client.secrets[0]!
  assert.deepEqual(
    events.map(({ step, error, reason }) => [step, error, reason]),
    [
      [
        'authorization',
        'invalid_redirect_uri',
        `redirect_uri sent: https://app.example/other; registered: ${callback}`,
      ],
      [
        'authorization',
        'invalid_scope',
        'scope unknown: nothing.read; not registered for this client: members.read',
      ],
      ['token', 'invalid_grant', 'the PKCE code_verifier does not match the code_challenge'],
      [
        'token',
        'invalid_grant',
        'a code_verifier was sent, but the authorization request had no code_challenge',
      ],
      [
        'token',
        'invalid_grant',
        `redirect_uri sent: ${callback}/; in the authorization request: ${callback}`,
      ],
      ['token', 'invalid_client', `the secret is not that of the client, which has one that ends in ${tail}`],
      [
        'token',
        'invalid_client',
        'client authentication sent: client_secret_post; registered: client_secret_basic',
      ],
      ['token', 'invalid_grant', 'the user is no member of the account'],
    ],
  )
  for (const event of events) assert.deepEqual([event.client, event.address], [app.client.id, '127.0.0.1'])
  const text = JSON.stringify(events) + site.lines.join('')
  for (const secret of [app.secret!, code, verifier]) assert.equal(text.includes(secret), false)
})

test('events that anyone can cause are kept apart from those of an app and its users', async t => {
  const site = await startSite(t)
  const { app, account, browser } = await visit(site)
  const open = await register(site, account, { tokenEndpointAuthMethod: 'none' })
  const { verifier, challenge } = pkce()
  const withPkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const stranger = new Browser(site.issuer)
  for (const { client } of [app, open])
    for (let i = 0; i < 30; i++)
      await stranger.get(authorizationPath(client, { redirect_uri: `https://app.example/${i}` }))
  await browser.get(authorizationPath(app.client, { scope: 'nothing.read' }))
  await exchange(site, { ...app, secret: 'svcs_wrong' }, 'x')
  await exchange(site, app, 'x')
  await exchange(site, open, 'x', { code_verifier: verifier })
  const code = await codeOf(site, browser, open.client, withPkce)
  await exchange(site, open, code, { code_verifier: pkce().verifier })
  await tokensOf(site, browser, app)
  const isUnproven = (event: AuthorizationEvent) => event.isUnproven
  const events = [await eventsOf(site, app.client), await eventsOf(site, open.client)]
  assert.deepEqual(
    events.map(some => some.filter(isUnproven).length),
    [32, 31],
  )
  const known = events.map(some => some.filter(event => !isUnproven(event)).map(({ reason }) => reason))
  const codeUnknown =
    'the code is unknown: it was issued more than a minute ago, or not here, or cut off on the way'
  assert.deepEqual(known, [
    [null, null, codeUnknown],
    ['the PKCE code_verifier does not match the code_challenge', null],
  ])
})

test('responses of the endpoints are counted, whatever names are sent', async t => {
  const site = await startSite(t)
  const { app, browser } = await visit(site)
  const { refresh_token } = await tokensOf(site, browser, app)
  await refresh(site, app, refresh_token)
  await refresh(site, app, 'svcr_wrong')
  for (let i = 0; i < 61; i++) await exchange(site, { ...app, secret: 'svcs_wrong' }, 'x')
  await exchange(site, app, 'x', { grant_type: 'made up' })
  await browser.get(authorizationPath(app.client, { redirect_uri: 'https://app.example/other' }))
  await browser.get(authorizationPath(app.client, { scope: 'nothing.read' }))
  // A consent covers it, but the person has to sign in again first.
  await browser.get(authorizationPath(app.client, { scope, prompt: 'login' }))
  await new Browser(site.issuer).get(authorizationPath(app.client, { scope, prompt: 'none' }))
  const { tokens, authorizations } = site.metrics
  assert.deepEqual(countsIn(tokens.authorization_code), { issued: 1, invalid_client: 60, throttled: 1 })
  assert.deepEqual(countsIn(tokens.refresh_token), { issued: 1, invalid_grant: 1 })
  assert.deepEqual(countsIn(tokens.other), { unsupported_grant_type: 1 })
  const refused = { invalid_redirect_uri: 1, invalid_scope: 1, login_required: 1 }
  assert.deepEqual(countsIn(authorizations), { code: 1, asked: 2, ...refused })
})

function countsIn(tallies: Readonly<Record<string, { readonly value: number }>>): Record<string, number> {
  const counted = Object.entries(tallies).filter(([, { value }]) => value > 0)
  return Object.fromEntries(counted.map(([name, { value }]) => [name, value]))
}
