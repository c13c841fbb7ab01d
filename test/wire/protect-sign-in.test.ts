// Routes that only people with a session may pass: whatever else a client sends, nothing slips by, and origins learn who it is from the gateway alone.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { systemClock } from '../../src/base/clock.ts'
import type { SignInGateConfig } from '../../src/config/model/protect-config.ts'
import { newValue } from '../../src/people/records/secret-value.ts'
import { KnownSiteSessions } from '../../src/people/sessions/known-site-sessions.ts'
import { Sessions } from '../../src/people/sessions/sessions.ts'
import { challengeOf, SiteSessions } from '../../src/people/sessions/site-sessions.ts'
import { openStore } from '../../src/store/open.ts'
import { TokenTags } from '../../src/tokens/token-tags.ts'
import { Edge, edgeConfig, listenAt } from '../help/edge.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { startIdentityKeys } from '../help/identity-keys.ts'
import { ok, type Script, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, request } from '../help/raw.ts'
import { userWith } from '../people/user-with.ts'

const hosts = ['site.test', 'other.test', 'localhost']
const identity = { issuer: 'https://site.test', audience: 'site', claims: ['email'] }
/** By a proxy in front that ends TLS. */
const secure = 'X-Forwarded-Proto: https'

/** Puts the gate before a site, with a person who has signed in at site.test. */
async function start(t: TestContext, gate: Partial<SignInGateConfig> = {}, failing: readonly string[] = []) {
  const origin = await startResponder(t, ok('site'))
  const store = await openStore('sqlite::memory:', { commandTimeout: 5_000 })
  t.after(() => store.close())
  const own: SignInGateConfig = {
    ...{ kind: 'sign_in', accounts: [], roles: [], domains: [], condition: null, endsOpen: false },
    fields: [
      { name: 'X-User', claim: 'sub' },
      { name: 'X-Email', claim: 'email' },
    ],
    ...gate,
  }
  const config = edgeConfig([...failing, origin.url], {
    ...{ h2c: true, trustedProxies: ['127.0.0.1'], zone: { hosts, identity }, route: { protect: [own] } },
    pool: { retries: { most: 3, budget: 1 } },
  })
  const identityKeys = await startIdentityKeys(t, systemClock)
  const tags = new TokenTags(store)
  const sessions = new KnownSiteSessions({ store, tags, grace: 600_000 })
  const edge = await listenAt(t, new Edge(t, config, { sessions, identityKeys }))
  const user = userWith({})
  await store.users.insert(user)
  const proof = { method: 'password', secondFactor: false, at: Date.now() } as const
  const visit = { address: '127.0.0.1', userAgent: 'test', ray: '0123456789abcdef' }
  const parents = new Sessions(store)
  const sites = new SiteSessions(store, tags)
  const parent = await parents.begin(user, proof, visit)
  const sessionAt = async (site: string) => {
    const verifier = newValue().value
    const code = await sites.issueCode(parent.session, { site, challenge: challengeOf(verifier) })
    return (await sites.begin(code, site, verifier))!
  }
  const value = await sessionAt('https://site.test')
  const cookie = `Cookie: __Host-gatehouse-site=${value}`
  const get = (...lines: string[]) => edge.ask(request('GET /', secure, ...lines))
  return { origin, edge, store, user, parents, parent, value, cookie, get, sessionAt }
}

test('a session passes, and its cookie is not sent on', async t => {
  const { get, cookie, origin, user, value } = await start(t)
  assert.equal((await get(`${cookie}; theme=dark`)).status, 200)
  assert.equal((await get('Cookie: a=b', cookie)).status, 200)
  assert.deepEqual(
    origin.requests.map(sent => [sent.field('x-user'), sent.field('x-email'), sent.all('cookie')]),
    [
      [user.id, user.email, ['theme=dark']],
      [user.id, user.email, ['a=b']],
    ],
  )
  assert.doesNotMatch(origin.requests.flatMap(({ lines }) => lines).join(), new RegExp(value))
})

test('whatever stands in Cookie, only a session of this host and scheme passes', async t => {
  const { get, edge, origin, value, cookie, sessionAt, parent } = await start(t)
  const other = await sessionAt('https://other.test')
  const cookies = fc.oneof(
    fc.string({ maxLength: 60 }).map(text => text.replace(/[^ -~]/g, '')),
    fc
      .tuple(fc.nat(value.length - 1), fc.constantFrom('', 'A', '-', '=', ' ', ',', '"', '%41', ';'))
      .map(([at, more]) => `__Host-gatehouse-site=${value.slice(0, at)}${more}${value.slice(at + 1)}`)
      .filter(text => text !== `__Host-gatehouse-site=${value}`),
    fc.constantFrom(
      ...[
        'gatehouse-site',
        '__host-gatehouse-site',
        '__Secure-gatehouse-site',
        '__Host-gatehouse',
        '__Host-gatehouse-way',
        '"__Host-gatehouse-site"',
        '$__Host-gatehouse-site',
        '__Host-gatehouse-site ',
        '__Host-gatehouse_site',
      ].map(name => `${name}=${value}`),
      `__Host-gatehouse-site="${value}"`,
      `__Host-gatehouse-site=${other}`,
      `__Host-gatehouse-site=${parent.value}`,
      `__Host-gatehouse-site=${parent.session.id}`,
      `__Host-gatehouse-site=${value}; __Host-gatehouse-site=${value}`,
      `__Host-gatehouse-site=${value}; __Host-gatehouse-site=${other}`,
      `__Host-gatehouse-site=; __Host-gatehouse-site=${value}`,
      `a="; __Host-gatehouse-site=${'B'.repeat(43)}"; __Host-gatehouse-site=${value}`,
    ),
  )
  await fc.assert(
    fc.asyncProperty(cookies, async text => assert.notEqual((await get(`Cookie: ${text}`)).status, 200)),
    { numRuns: 150 },
  )
  for (const lines of [
    [`Cookie2: __Host-gatehouse-site=${value}`],
    [`Authorization: Bearer ${value}`],
    [cookie, cookie],
  ])
    assert.equal((await get(...lines)).status, 401, lines.join())
  const plain = await edge.ask(request('GET /', cookie, `Cookie: gatehouse-site=${value}`))
  assert.equal(plain.status, 401, 'over plain HTTP')
  for (const at of ['other.test', 'localhost']) {
    const elsewhere = request('GET /', secure, cookie).replace('site.test', at)
    assert.equal((await edge.ask(elsewhere)).status, 401, at)
  }
  const mixed = request('GET http://other.test/', secure, cookie)
  assert.equal((await edge.ask(mixed)).status, 400, 'with another host in the target')
  assert.equal(origin.requests.length, 0)
  assert.equal((await get(cookie)).status, 200)
})

test('no client says who it is, in any spelling', async t => {
  const { edge, get, cookie, origin, user } = await start(t)
  const words = ['x-user', 'x-email', 'svc-identity']
  const separators = ['-', '_', '.', '~', '!', '+', '|', "'", '`', '^', '#', '$', '%', '&', '*']
  const cases = [
    (text: string) => text,
    (text: string) => text.toUpperCase(),
    (text: string) => text.replace(/^./, c => c.toUpperCase()),
  ]
  for (const word of words) {
    const names = separators.flatMap(by => cases.map(write => write(word.replaceAll('-', by))))
    const forged = names.map(name => `${name}: mallory`)
    assert.equal((await get(cookie, ...forged)).status, 200)
    assert.equal((await get(cookie, ...forged.map(line => line.replace(':', ' :')))).status, 400)
    const trailing = `${chunks('a')}0\r\n${forged.join('\r\n')}\r\n\r\n`
    const posted = request('POST /', secure, cookie, 'Transfer-Encoding: chunked', `Connection: ${word}`)
    assert.equal((await edge.ask(posted + trailing)).status, 200)
  }
  const client = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  const fields = { 'x-forwarded-proto': 'https', cookie: cookie.slice('Cookie: '.length) }
  const forged = Object.fromEntries(
    words.flatMap(word => [word, word.replaceAll('-', '_')]).map(name => [name, 'mallory']),
  )
  assert.equal((await ask(client, { ...fields, ...forged })).status, 200)
  assert.equal((await ask(client)).status, 401)
  for (const { lines, trailers } of origin.requests) {
    assert.doesNotMatch([...lines, ...trailers].join(), /mallory/)
    assert.equal(lines.filter(line => line === `X-User: ${user.id}`).length, 1)
  }
})

test('no WebSocket opens without a session, over either version', async t => {
  const { edge, get, cookie, origin, value } = await start(t)
  const handshake = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  const lines = [...handshake, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Accept: text/html']
  assert.equal((await get(...lines, 'Sec-Fetch-Mode: navigate')).status, 401)
  assert.equal((await get(...lines, cookie.slice(0, -1))).status, 401)
  const client = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  const connect = {
    ...{ ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'http', ':path': '/' },
    ...{ 'sec-websocket-version': '13', 'x-forwarded-proto': 'https' },
  }
  assert.equal((await ask(client, connect)).status, 401)
  assert.equal((await ask(client, { ...connect, cookie: `gatehouse-site=${value}` })).status, 401)
  assert.equal(origin.requests.length, 0)
  const forged = ['X-User: mallory', 'svc_identity: mallory']
  assert.equal((await get(...lines, cookie, ...forged)).status, 200, 'the origin knows no WebSocket')
  assert.doesNotMatch(origin.requests[0]!.lines.join(), /mallory/)
})

test('each attempt is from the same person, without their cookie', async t => {
  const heads: (readonly string[])[] = []
  const failing: Script = async wire => void heads.push((await wire.request()).lines)
  const { get, cookie, origin, user, value } = await start(t, {}, [(await startOrigin(t, failing)).url])
  assert.equal((await get(cookie)).status, 200)
  heads.push(...origin.requests.map(({ lines }) => lines))
  assert.equal(heads.length, 2)
  for (const lines of heads) {
    assert.ok(lines.includes(`X-User: ${user.id}`))
    assert.ok(lines.some(line => line.startsWith('svc-identity: ')))
    assert.doesNotMatch(lines.join(), new RegExp(value))
  }
})

test('an explanation says who would pass and who would be led to sign in, and shows no session', async t => {
  const { edge, cookie, value, origin, user, parents, parent } = await start(t)
  const explain = async (...headers: (readonly [string, string])[]) => {
    const explained = await edge.plane.explain({
      ...{ zone: 'site', account: '0'.repeat(32), method: 'GET', target: '/', host: 'site.test' },
      ...{ headers: [['X-Forwarded-Proto', 'https'], ...headers], address: '127.0.0.1' },
      ...{ body: null, bodySize: null, clientCertificate: null },
    })
    assert.ok('explanation' in explained)
    assert.doesNotMatch(JSON.stringify(explained), new RegExp(value))
    const { steps, outcome, response } = explained.explanation
    const { verdict, reason, compared } = steps.find(({ step }) => step === 'protect')!
    assert.deepEqual(compared, [{ what: 'sign_in', value: null, with: 'a session' }])
    return [outcome, verdict, reason, response?.status]
  }
  const own = ['Cookie', cookie.slice('Cookie: '.length)] as const
  assert.deepEqual(await explain(own), ['forwarded', 'passes', `Let in as ${user.id}.`, undefined])
  const led = ['responded', 'responds', 'It has no session: a browser is led to sign in.', 303]
  assert.deepEqual(await explain(['Accept', 'text/html']), led)
  const refused = ['refused', 'refuses', 'Sign in first.', 401]
  assert.deepEqual(await explain(['Accept', 'application/json']), refused)
  await parents.end(parent.value)
  assert.deepEqual(await explain(own), refused)
  assert.equal(origin.requests.length, 0)
})
