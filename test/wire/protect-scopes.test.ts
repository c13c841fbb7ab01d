// Routes that only access tokens for them may pass: how a client finds the way to one, and that no other opens them.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { RouteConfig } from '../../src/config/model/config.ts'
import type { GateConfig, TokenGateConfig } from '../../src/config/model/protect-config.ts'
import { startAi } from '../help/ai.ts'
import { zoneTo } from '../help/edge.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { ok, startResponder } from '../help/origin.ts'
import { request } from '../help/raw.ts'
import * as readers from '../help/path-readers.ts'
import { endsOf, keepAccess } from '../oauth/grants/keep-access.ts'

const mark = '/.well-known/oauth-protected-resource'
const orders = 'http://site.test/orders'
const needed = ['orders.read', 'orders.write']

const gateFor = (...scopes: readonly string[]): TokenGateConfig => ({
  kind: 'token',
  accepts: { scopes, server: null, account: null },
  fields: [
    { name: 'X-User', claim: 'sub' },
    { name: 'X-Client', claim: 'client_id' },
    { name: 'X-Scope', claim: 'scope' },
  ],
  endsOpen: false,
})

/** A site with an open route, one for orders and one for invoices, and another zone. */
async function start(t: TestContext, trustedProxies: readonly string[] = []) {
  const origin = await startResponder(t, async ({ target }, wire) => {
    if (target !== '/films') return ok('site')
    await wire.send('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart')
    return undefined
  })
  const ai = await startAi(t, {}, { h2c: true, trustedProxies })
  const { account, edge, store } = ai
  const route = (path: string, protect: readonly GateConfig[] | null): RouteConfig => ({
    ...zoneTo([origin.url]).routes[0]!,
    ...{ path, protect },
  })
  const routes = [
    route('/', null),
    route('/orders', [gateFor(...needed)]),
    route('/invoices', [gateFor('orders.read')]),
    route('/films', [{ ...gateFor('orders.read'), endsOpen: true }]),
  ]
  const hosts = ['site.test', '*.shops.test']
  const zones = [
    { ...zoneTo([]), hosts, routes },
    { ...zoneTo([]), name: 'other', hosts: ['other.test'], routes },
  ]
  edge.reload({ ...edge.config, zones })
  const now = Date.now()
  const keep = async (wish: Parameters<typeof keepAccess>[1] = {}, resource?: readonly string[]) => {
    const made = await keepAccess(store, { account, now, aud: orders, scopes: needed, ...wish })
    const aud = [wish.aud ?? orders].flat()
    const grant = await store.oauthGrants.get(account, made.grant.id)
    await store.oauthGrants.replace({ ...grant!.record, resource: resource ?? aud }, grant!.version)
    return made
  }
  const get = (path: string, token: string | null, host = 'site.test', ...fields: string[]) =>
    edge.ask(
      request(
        `GET ${path}`,
        ...(token === null ? [] : [`Authorization: Bearer ${token}`]),
        ...fields,
      ).replace('Host: site.test', `Host: ${host}`),
    )
  return { ai, edge, origin, store, keep, get }
}

test('a client without a token is told where the metadata say how to get one', async t => {
  const { get } = await start(t)
  const { status, text } = await get('/orders', null, 'site.test', 'Accept: application/json')
  assert.equal(status, 401)
  assert.match(JSON.parse(text).what_you_should_do, /the URL in resource_metadata of WWW-Authenticate/)
})

test('an access token for the route with all of its scopes passes, and is not sent on', async t => {
  const { get, keep, origin } = await start(t)
  const { value, user, client } = await keep({ scopes: [...needed, 'user.read'] })
  for (const path of ['/orders', '/orders/1', '/orders?a=b'])
    assert.equal((await get(path, value)).status, 200)
  for (const sent of origin.requests) {
    assert.doesNotMatch(sent.lines.join(), /svco_|authorization/i)
    assert.equal(sent.field('x-user'), user.id)
    assert.equal(sent.field('x-client'), client.id)
    assert.equal(sent.field('x-scope'), 'orders.read orders.write user.read')
  }
})

test('who has no token, one that is not valid or too little learns where to get which', async t => {
  const { get, keep, origin, ai } = await start(t)
  const metadata = `resource_metadata="http://site.test${mark}/orders", scope="orders.read orders.write"`
  const few = await keep({ scopes: ['orders.read'] })
  const apiToken = await ai.mint({ id: 'a'.repeat(32) })
  for (const [token, status, challenge] of [
    [null, 401, `Bearer ${metadata}`],
    ['x', 401, `Bearer ${metadata}, error="invalid_token"`],
    [apiToken, 401, `Bearer ${metadata}, error="invalid_token"`],
    [few.value, 403, `Bearer ${metadata}, error="insufficient_scope"`],
  ] as const) {
    const answer = await get('/orders/1', token)
    assert.deepEqual([answer.status, answer.all('www-authenticate')], [status, [challenge]])
  }
  assert.equal(origin.requests.length, 0)
  assert.equal((await get('/', null)).status, 200)
})

test('the metadata names the resource, the issuer and the scopes, by the public host and scheme', async t => {
  const { get, edge, origin } = await start(t, ['127.0.0.1'])
  const forwarded = [
    'X-Forwarded-Proto: https',
    'X-Forwarded-Host: one.shops.test',
    'X-Forwarded-For: 192.0.2.1',
  ]
  const answer = await get(`${mark}/orders`, null, 'one.shops.test', ...forwarded)
  assert.deepEqual([answer.status, answer.field('access-control-allow-origin')], [200, '*'])
  assert.deepEqual(JSON.parse(answer.text), {
    resource: 'https://one.shops.test/orders',
    authorization_servers: ['https://id.example'],
    scopes_supported: needed,
    bearer_methods_supported: ['header'],
    resource_name: 'site',
  })
  const refused = await get('/orders', null, 'one.shops.test', ...forwarded)
  assert.match(
    refused.field('www-authenticate')!,
    /resource_metadata="https:\/\/one\.shops\.test\/\.well-known/,
  )
  const head = await edge.ask(request(`HEAD ${mark}/orders`))
  assert.deepEqual([head.status, head.text], [200, ''])
  const post = await edge.ask(request(`POST ${mark}/orders`, 'Content-Length: 0'))
  assert.deepEqual([post.status, post.field('allow')], [405, 'GET, HEAD'])
  const client = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  assert.equal((await ask(client, { ':path': `${mark}/orders` })).status, 200)
  assert.equal(origin.requests.length, 0)
  for (const path of [
    mark,
    `${mark}/`,
    `${mark}/none`,
    `${mark}/orders/1`,
    `${mark}//orders`,
    `${mark}/%6frders`,
  ])
    assert.equal((await get(path, null)).text, 'site', `${path} is of the open route`)
})

test('the metadata of a route at the root have no path', async t => {
  const { edge, origin, keep, get } = await start(t)
  const zone = zoneTo([origin.url], { route: { protect: [gateFor('orders.read')] } })
  edge.reload({ ...edge.config, zones: [{ ...zone, hosts: ['site.test'] }] })
  const { resource } = JSON.parse((await get(mark, null)).text)
  const refused = await get('/any/path', null)
  const challenge = `Bearer resource_metadata="http://site.test${mark}", scope="orders.read"`
  assert.deepEqual([refused.status, refused.all('www-authenticate')], [401, [challenge]])
  assert.equal((await get('/any/path', (await keep({ aud: resource })).value)).status, 200)
  assert.equal((await get('/any/path', (await keep({ aud: orders })).value)).status, 401)
  assert.equal((await get(`${mark}/any`, null)).status, 401, 'metadata of no route')
})

test('a token for another host, zone, path, port, scheme or API does not pass', async t => {
  const { get, keep, origin } = await start(t)
  for (const aud of [
    'http://site.test/invoices',
    'http://site.test',
    'http://site.test/orders/1',
    'http://other.test/orders',
    'https://site.test/orders',
    'http://site.test:8080/orders',
    'http://site.test.evil.test/orders',
    'http://one.shops.test/orders',
    'http://site.test/orders?a',
    'http://a@site.test/orders',
    'https://ai.test/',
    'https://id.example/client/v4',
    ['http://site.test/invoices', 'http://other.test/orders'],
  ]) {
    const { value } = await keep({ aud })
    const answer = await get('/orders', value)
    assert.deepEqual([answer.status], [401], String(aud))
    assert.match(answer.field('www-authenticate')!, /error="invalid_token"/)
  }
  const everywhere = await keepAccess((await start(t)).store, { scopes: needed })
  assert.equal((await get('/orders', everywhere.value)).status, 401, 'one for no resource in particular')
  const notConsented = await keep({}, ['http://site.test/invoices'])
  assert.equal((await get('/orders', notConsented.value)).status, 401, 'the consent is for another')
  assert.equal(origin.requests.length, 0)
  const spelled = await keep({ aud: 'HTTP://Site.Test:80/orders' })
  assert.equal((await get('/orders', spelled.value)).status, 200)
  const shop = await keep({ aud: 'http://one.shops.test/orders' })
  assert.equal((await get('/orders', shop.value, 'one.shops.test')).status, 200)
  assert.equal((await get('/orders', shop.value, 'two.shops.test')).status, 401)
})

test('a token for another zone does not pass by a host that a client claims to a trusted proxy', async t => {
  const { get, keep, origin } = await start(t, ['127.0.0.1'])
  const { value } = await keep({ aud: 'http://other.test/orders' })
  const claim = ['X-Forwarded-For: 192.0.2.1', 'X-Forwarded-Host: other.test']
  assert.equal((await get('/orders', value, 'site.test', ...claim)).status, 401)
  assert.equal(origin.requests.length, 0)
  assert.equal((await get('/orders', value, 'other.test', ...claim)).status, 200)
  assert.equal((await get(`${mark}/orders`, null, 'site.test', ...claim)).status, 404)
})

test('on one connection of HTTP/2, another host of the zone is another resource', async t => {
  const { edge, keep } = await start(t)
  const authorization = `Bearer ${(await keep()).value}`
  const client = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  const statusOf = async (host: string) =>
    (await ask(client, { authorization, ':authority': host, ':path': '/orders' })).status
  for (const [host, status] of [
    ['site.test', 200],
    ['site.test', 200],
    ['one.shops.test', 401],
    ['other.test', 401],
    ['site.test:8080', 401],
    ['SITE.test', 200],
  ] as const)
    assert.equal(await statusOf(host), status, host)
})

test('a token for a route opens nothing else', async t => {
  const { ai, keep } = await start(t)
  const { value } = await keep({ scopes: [...needed, 'ai_gateway.run'] })
  const call = `POST ${ai.rest}/v1/chat/completions HTTP/1.1\r\nHost: ai.test\r\nAuthorization: Bearer ${value}\r\nContent-Length: 2\r\n\r\n{}`
  assert.equal((await ai.edge.ask(call)).status, 401)
})

test('what the gate decides is counted by zone and outcome', async t => {
  const { edge, keep, get } = await start(t)
  const [good, few] = [await keep(), await keep({ scopes: ['orders.read'] })]
  const client = await edge.connect()
  for (let i = 0; i < 3; i++) {
    await client.send(request('GET /orders', `Authorization: Bearer ${good.value}`))
    await client.response()
  }
  await get('/orders', few.value)
  await get('/orders', null)
  await get('/', null)
  const { token, jwt } = edge.metrics.zone('site').gates
  const counts = Object.entries(token!).map(([outcome, { value }]) => [outcome, value])
  assert.deepEqual(Object.fromEntries(counts), {
    ...{ passed: 3, missing: 1, invalid: 0, insufficient: 1, refused: 0, unavailable: 0, ended: 0 },
  })
  assert.equal(jwt, null)
})

test('what ends an access token ends it on a connection in use', async t => {
  const { edge, keep, store } = await start(t)
  const client = await edge.connect()
  const ends = Object.entries(endsOf).filter(([, { status }]) => status.list === 401)
  for (const [name, { end }] of ends) {
    const kept = await keep()
    const statusOf = async () => {
      await client.send(request('GET /orders', `Authorization: Bearer ${kept.value}`))
      return (await client.response()).status
    }
    assert.deepEqual([await statusOf(), await statusOf()], [200, 200], name)
    await end(store, kept)
    assert.equal(await statusOf(), 401, name)
  }
})

test('with end_open, what ends an access token ends what is open, and so does its expiry', async t => {
  const { edge, keep, store } = await start(t)
  const ends = Object.entries(endsOf).filter(([, { status }]) => status.list === 401)
  const open = async () => {
    const kept = await keep({ aud: 'http://site.test/films' })
    const client = await edge.connect()
    await client.send(request('GET /films', `Authorization: Bearer ${kept.value}`))
    await client.until('part')
    return { kept, client }
  }
  const expiring = await open()
  for (const [name, { end }] of ends) {
    const { kept, client } = await open()
    await end(store, kept)
    assert.equal(await client.ending, 'RST', name)
    assert.equal(edge.accesses.at(-1)!.cause, 'GH_TOKEN_UNKNOWN', name)
  }
  t.mock.timers.enable({ apis: ['Date'], now: expiring.kept.credential.expiresAt })
  assert.equal(await expiring.client.ending, 'RST')
  assert.equal(edge.accesses.at(-1)!.cause, 'GH_TOKEN_EXPIRED')
})

test('at its expiry, a token ends on a connection in use', async t => {
  const { edge, keep } = await start(t)
  const { value, credential } = await keep({ life: 400 })
  const client = await edge.connect()
  const statuses: number[] = []
  for (;;) {
    const before = Date.now()
    await client.send(request('GET /orders', `Authorization: Bearer ${value}`))
    const { status } = await client.response()
    statuses.push(status)
    if (before >= credential.expiresAt) break
  }
  assert.equal(statuses[0], 200)
  assert.equal(statuses.at(-1), 401)
})

test('however a path of the route is written, it needs the token', async t => {
  const { get, origin } = await start(t)
  const part = fc.constantFrom(
    ...[
      '/',
      '//',
      '/./',
      '/x/../',
      '%2f',
      '%2F',
      '/%2e/',
      ';',
      '..;',
      '/..;/',
      'orders',
      'Orders',
      '%6frders',
      '\\',
    ],
  )
  const path = fc.array(part, { minLength: 1, maxLength: 5 }).map(parts => `/${parts.join('')}`)
  await fc.assert(
    fc.asyncProperty(path, async path => {
      const before = origin.requests.length
      await get(path, null)
      for (const { target } of origin.requests.slice(before))
        for (const [name, read] of Object.entries(readers))
          assert.ok(!read(target).some(path => /^\/orders(\/|$)/.test(path)), `${name} reads ${target}`)
    }),
    { numRuns: 150 },
  )
})
