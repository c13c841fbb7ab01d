// Routes that only tokens of this gateway may pass: nothing slips by, and no origin gets one.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { TokenGateConfig } from '../../src/config/model/protect-config.ts'
import type { RouteConfig } from '../../src/config/model/config.ts'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'
import { mintToken } from '../../src/tokens/token.ts'
import { startAi } from '../help/ai.ts'
import { codeOf, zoneTo } from '../help/edge.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { gateOf, startIssuer } from '../help/issuer.ts'
import { ok, type Respond, startResponder } from '../help/origin.ts'
import { chunks, request } from '../help/raw.ts'
import { until } from '../help/until.ts'

const json = 'Accept: application/json'
const handshake = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

/** Puts the gate before a site; `more` are settings of its route. */
async function start(
  t: TestContext,
  gate: Partial<TokenGateConfig> = {},
  more: Partial<RouteConfig> = {},
  respond: string | Respond = ok('site'),
) {
  const origin = await startResponder(t, respond)
  const ai = await startAi(t, {}, { h2c: true })
  const { account, edge, store } = ai
  const accepts = { permission: 'Analytics Read', account } as const
  const own: TokenGateConfig = { kind: 'token', accepts, fields: [], endsOpen: false, ...gate }
  const protect = [own, ...(more.protect ?? [])]
  const zones = [zoneTo([origin.url], { route: { ...more, protect } })]
  edge.reload({ ...edge.config, zones })
  const mint = (changes: Parameters<typeof ai.mint>[0] = {}) =>
    ai.mint({ permissions: ['Analytics Read'], id: randomUUID().replaceAll('-', ''), ...changes })
  const get = (token: string, ...fields: string[]) =>
    edge.ask(request('GET /', json, `Authorization: Bearer ${token}`, ...fields))
  const reload = (protect: RouteConfig['protect']) => {
    const [zone] = zones
    edge.reload({ ...edge.config, zones: [{ ...zone!, routes: [{ ...zone!.routes[0]!, protect }] }] })
  }
  return { origin, edge, store, account, own, mint, get, reload }
}

test('a token with the permission passes, and is not sent on', async t => {
  const { origin, edge, mint } = await start(t, { fields: [{ name: 'X-Token', claim: 'name' }] })
  const token = await mint({ name: 'nightly' })
  const client = await edge.connect()
  for (const line of ['Bearer', 'bearer', 'BEARER ', 'Bearer\t']) {
    const authorization = `Authorization: ${line} ${token}`
    for (let i = 0; i < 3; i++) {
      await client.send(request('GET /', authorization, 'X-Token: forged', 'x_token: forged'))
      assert.equal((await client.response()).status, 200)
    }
  }
  await client.send(
    `${request('POST /', `Authorization: Bearer ${token}`, 'Transfer-Encoding: chunked')}${chunks('a')}0\r\nauthorization: Bearer x\r\nX-Token: forged\r\n\r\n`,
  )
  assert.equal((await client.response()).status, 200)
  assert.equal(origin.requests.length, 13)
  for (const sent of origin.requests) {
    assert.doesNotMatch([...sent.lines, ...sent.trailers].join(), /authorization|svct_|forged/i)
    assert.deepEqual(sent.all('x-token'), ['nightly'])
  }
})

test('a token that is not valid, for something else, or in another form is refused', async t => {
  const { origin, edge, mint, get } = await start(t)
  const good = await mint()
  const now = Date.now()
  const tokens: Record<string, string> = {
    unknown: mintToken('svct_').value,
    'an access token': mintToken('svco_').value,
    'a refresh token': mintToken('svcr_').value,
    expired: await mint({ expiresOn: now - 1 }),
    'not valid yet': await mint({ notBefore: now + 60_000 }),
    disabled: await mint({ status: 'disabled' }),
    'of other addresses': await mint({ addressesIn: ['192.0.2.1'] }),
    'not of this address': await mint({ addressesNotIn: ['127.0.0.0/8'] }),
    'of a member': await mint({ person: { user: 'a', email: 'a@b.example', member: 'c' } }),
    cut: good.slice(0, -1),
    longer: `${good}A`,
    'in upper case': good.toUpperCase(),
    twice: `${good}, ${good}`,
    'with a remark': `${good} x`,
    quoted: `"${good}"`,
    'percent-encoded': good.replace('s', '%73'),
    empty: '',
  }
  for (const [name, token] of Object.entries(tokens)) {
    const answer = await get(token)
    assert.deepEqual([answer.status, codeOf(answer)], [401, 401], name)
    assert.equal(answer.field('www-authenticate'), 'Bearer error="invalid_token"', name)
  }
  for (const lines of [
    [],
    [`Authorization: Basic ${Buffer.from(`x:${good}`).toString('base64')}`],
    [`Authorization: ${good}`],
    [`Authorization: Token ${good}`],
    [`Proxy-Authorization: Bearer ${good}`],
    [`X-Authorization: Bearer ${good}`],
    [`authorization_: Bearer ${good}`],
    [`Cookie: access_token=${good}`],
  ]) {
    const answer = await edge.ask(request('GET /', json, ...lines))
    assert.deepEqual([answer.status, answer.field('www-authenticate')], [401, 'Bearer'], lines.join())
  }
  assert.equal((await edge.ask(request(`GET /?access_token=${good}`, json))).status, 401)
  assert.equal((await get(good, `Authorization: Bearer ${good}`)).status, 401)
  assert.equal((await get(good, `X-Key: ${good}`)).status, 400)
  assert.equal(origin.requests.length, 0)
  assert.equal((await get(good)).status, 200)
})

test('a token needs the permission in the account of the zone, for more than certain gateways', async t => {
  const { origin, mint, get, account } = await start(t)
  const { id } = permissionGroups.find(({ name }) => name === 'Analytics Read')!
  const policy = { id: '0', effect: 'allow', permissionGroups: [id], accounts: [account] } as const
  const others = 'f'.repeat(32)
  const tokens: Record<string, string> = {
    'other permissions': await mint({ permissions: ['AI Gateway Run', 'Zones Read'] }),
    'no permission': await mint({ permissions: [] }),
    'another account': await mint({ account: others, policies: [{ ...policy, accounts: [others] }] }),
    denied: await mint({ policies: [policy, { ...policy, effect: 'deny' }] }),
    'for a gateway': await mint({ gateways: ['default'] }),
    'for a model': await mint({ models: ['openai/*'] }),
  }
  for (const [name, token] of Object.entries(tokens)) {
    const answer = await get(token)
    assert.deepEqual([answer.status, codeOf(answer)], [403, 403], name)
    assert.equal(answer.field('www-authenticate'), 'Bearer error="insufficient_scope"', name)
  }
  assert.equal(origin.requests.length, 0)
  const everywhere = await mint({ account: others, policies: [{ ...policy, accounts: ['*'] }] })
  assert.equal((await get(everywhere)).status, 200)
})

test('what is revoked, expires or changes on a connection in use ends there', async t => {
  const { edge, store, account, mint } = await start(t)
  const client = await edge.connect()
  const statusOf = async (token: string) => {
    await client.send(request('GET /', `Authorization: Bearer ${token}`))
    return (await client.response()).status
  }
  const id = 'a'.repeat(32)
  const token = await mint({ id })
  assert.deepEqual([await statusOf(token), await statusOf(token)], [200, 200])
  const found = await store.tokens.get(account, id)
  await store.tokens.replace({ ...found!.record, status: 'disabled' }, found!.version)
  assert.equal(await statusOf(token), 401)
  const again = await store.tokens.get(account, id)
  await store.tokens.replace({ ...again!.record, status: 'active', policies: [] }, again!.version)
  assert.equal(await statusOf(token), 403)
  await store.tokens.remove(account, id)
  assert.equal(await statusOf(token), 401)
})

test('with end_open, what is open ends with the token, or with what it permits', async t => {
  const begun = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart'
  const respond: Respond = async (_, wire) => void (await wire.send(begun))
  const { edge, store, account, mint } = await start(t, { endsOpen: true }, {}, respond)
  const ways = {
    GH_TOKEN_UNKNOWN: null,
    GH_TOKEN_DISABLED: { status: 'disabled' },
    GH_TOKEN_INSUFFICIENT: { policies: [] },
    GH_TOKEN_ADDRESS_DENIED: { addressesNotIn: ['127.0.0.1'] },
  } as const
  for (const [i, [cause, change]] of Object.entries(ways).entries()) {
    const id = String(i).repeat(32)
    const tokens = [await mint({ id }), await mint()]
    const clients = await Promise.all(tokens.map(() => edge.connect()))
    for (const [i, client] of clients.entries()) {
      await client.send(request('GET /', json, `Authorization: Bearer ${tokens[i]}`))
      await client.until('part')
    }
    if (change === null) await store.tokens.remove(account, id)
    else {
      const { record, version } = (await store.tokens.get(account, id))!
      await store.tokens.replace({ ...record, ...change }, version)
    }
    assert.equal(await clients[0]!.ending, 'RST')
    assert.equal(edge.accesses.at(-1)!.cause, cause)
    clients[1]!.reset()
    await until(() => edge.accesses.length === 2 * i + 2)
  }
})

test('what is open ends where a reload has left no gate that would let it in', async t => {
  const begun = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart'
  const respond: Respond = async (_, wire) => void (await wire.send(begun))
  const { edge, own, store, account, mint, reload } = await start(t, { endsOpen: true }, {}, respond)
  const open = async (token: string) => {
    const client = await edge.connect()
    await client.send(request('GET /', json, `Authorization: Bearer ${token}`))
    await client.until('part')
    return client
  }
  const other = { ...own, accepts: { permission: 'Origins Read', account } } as const
  const elsewhere = gateOf('http://127.0.0.1:9')
  for (const [cause, ...protect] of [
    ['GH_TOKEN_INSUFFICIENT', other],
    ['GH_GATE_CHANGED', elsewhere],
  ] as const) {
    reload([own])
    const id = randomUUID().replaceAll('-', '')
    const [client, revoked] = [await open(await mint()), await open(await mint({ id }))]
    reload([elsewhere, other, own])
    await store.tokens.remove(account, id)
    assert.equal(await revoked.ending, 'RST')
    assert.equal(edge.accesses.at(-1)!.cause, 'GH_TOKEN_UNKNOWN')
    reload(protect)
    assert.equal(await client.ending, 'RST')
    assert.equal(edge.accesses.at(-1)!.cause, cause)
  }
})

test('whatever stands in Authorization, only a token passes', async t => {
  const { edge, origin, mint } = await start(t)
  const good = await mint()
  const value = fc.oneof(
    fc.string({ maxLength: 60 }).map(text => text.replace(/[^ -~]/g, '')),
    fc
      .tuple(fc.nat(good.length), fc.constantFrom('A', '-', '.', '=', ' ', ',', '%20'))
      .map(([at, letter]) => `Bearer ${good.slice(0, at)}${letter}${good.slice(at)}`)
      .filter(text => text.trimEnd() !== `Bearer ${good}` && text !== `Bearer  ${good}`),
    fc.nat(good.length - 1).map(at => `Bearer ${good.slice(0, at)}`),
  )
  await fc.assert(
    fc.asyncProperty(value, async text => {
      const { status } = await edge.ask(request('GET /', `Authorization: ${text}`))
      assert.equal(status, 401)
    }),
    { numRuns: 100 },
  )
  assert.equal(origin.requests.length, 0)
})

test('over HTTP/2, for WebSockets, and on redirects that are followed, it is the same', async t => {
  const respond: Respond = ({ target }) =>
    target === '/from'
      ? 'HTTP/1.1 302 X\r\nLocation: /to\r\nContent-Length: 0\r\n\r\n'
      : ok('data: a\n\n', 'Content-Type: text/event-stream')
  const { edge, origin, mint } = await start(t, {}, { redirects: 3 }, respond)
  const token = await mint()
  const authorization = `Bearer ${token}`
  const client = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  assert.equal((await ask(client)).status, 401)
  assert.equal((await edge.ask(request('GET /', ...handshake))).status, 401)
  assert.equal(origin.requests.length, 0)
  for (let i = 0; i < 3; i++) assert.equal((await ask(client, { authorization })).status, 200)
  await edge.ask(request('GET /', `Authorization: ${authorization}`, ...handshake))
  const followed = await edge.ask(request('GET /from', `Authorization: ${authorization}`))
  assert.equal(followed.status, 200)
  assert.deepEqual(
    origin.requests.map(({ target }) => target),
    ['/', '/', '/', '/', '/from', '/to'],
  )
  for (const { lines } of origin.requests) assert.doesNotMatch(lines.join(), /authorization|svct_/i)
})

test('an authorizer before it never gets the token, and one behind it is not asked', async t => {
  const authorizer = await startResponder(t, 'HTTP/1.1 401 X\r\nContent-Length: 0\r\n\r\n')
  const { gate } = await startIssuer(t)
  const { edge, own, mint, get, origin } = await start(t)
  const forward = {
    ...({ kind: 'forward', url: authorizer.url, ca: null, networks: ['127.0.0.0/8'] } as const),
    ...{ timeout: 2_000, concurrency: 10, send: ['authorization', 'cookie'], copy: [] },
  }
  const gates = (...protect: RouteConfig['protect'] & object) => {
    const [zone] = edge.config.zones
    const { pool } = zoneTo([origin.url]).routes[0]!
    edge.reload({ ...edge.config, zones: [{ ...zone!, routes: [{ ...zone!.routes[0]!, pool, protect }] }] })
  }
  const token = await mint()
  gates(forward, gate, own)
  assert.equal((await get(token)).status, 200)
  assert.equal(authorizer.requests.length, 1)
  assert.doesNotMatch(authorizer.requests[0]!.lines.join(), /svct_/)
  assert.equal((await get(token, `X-Key: ${token}`)).status, 400)
  gates(own, forward)
  assert.equal((await get(token)).status, 200)
  assert.equal(authorizer.requests.length, 1)
  assert.equal((await get(mintToken('svct_').value)).status, 401)
  assert.equal(authorizer.requests.length, 2)
  assert.doesNotMatch(origin.requests.flatMap(({ lines }) => lines).join(), /svct_/)
})
