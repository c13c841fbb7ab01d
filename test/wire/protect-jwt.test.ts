// Routes that only tokens of an issuer may pass: nothing slips by, and origins learn who it is from the gateway alone.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { JwtGateConfig } from '../../src/config/model/protect-config.ts'
import { codeOf, type EdgeSettings, startEdge } from '../help/edge.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { audience, gateOf, issuer, issuerKey, keySetOf, sign, startIssuer } from '../help/issuer.ts'
import { ok, startResponder } from '../help/origin.ts'
import { chunks, request } from '../help/raw.ts'

const json = 'Accept: application/json'

async function start(t: TestContext, gate: Partial<JwtGateConfig> = {}, settings: EdgeSettings = {}) {
  const origin = await startResponder(t, ok('site'))
  const { key, server, gate: usual } = await startIssuer(t)
  const protect = [{ ...usual, ...gate }]
  const edge = await startEdge(t, [origin.url], {
    ...settings,
    h2c: true,
    route: { protect, ...settings.route },
  })
  const get = (token: string, ...fields: string[]) =>
    edge.ask(request('GET /', json, `Authorization: Bearer ${token}`, ...fields))
  return { origin, edge, key, server, get }
}

test('a valid token passes and is not sent on', async t => {
  const { get, key, origin } = await start(t)
  const token = await sign(key)
  assert.equal((await get(token)).status, 200)
  assert.equal((await get(token)).status, 200)
  for (const { lines } of origin.requests) assert.doesNotMatch(lines.join(), /authorization/i)
})

test('without a token, the client learns what is required', async t => {
  const { edge, origin } = await start(t)
  for (const fields of [[], ['Authorization: Basic YTpi'], ['X-Authorization: Bearer a']]) {
    const answer = await edge.ask(request('GET /', json, ...fields))
    assert.equal(answer.status, 401)
    assert.equal(codeOf(answer), 401)
    assert.equal(answer.field('www-authenticate'), 'Bearer')
  }
  const page = await edge.ask(request('GET /', 'Accept: text/html'))
  assert.equal(page.status, 401)
  assert.match(page.text, /needs a token/)
  assert.equal(page.field('www-authenticate'), 'Bearer')
  assert.equal(origin.requests.length, 0)
})

test('a token that is not for us, not valid now, or not signed by the issuer is refused', async t => {
  const { get, key, origin } = await start(t)
  const now = Math.floor(Date.now() / 1000)
  const other = issuerKey('ES256')
  const rsa = issuerKey('RS256', key.kid)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = part({ iss: issuer, aud: audience, sub: 'alice', exp: now + 3600 })
  const pem = key.publicKey.export({ type: 'spki', format: 'pem' })
  const withHmac = (secret: string | Buffer, kid = key.kid) => {
    const signed = `${part({ alg: 'HS256', kid })}.${claims}`
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
  }
  const good = await sign(key)
  const [head, body, signature] = good.split('.')
  const tokens: Record<string, string> = {
    'another issuer': await sign(key, { iss: 'https://id.example' }),
    'no issuer': await sign(key, { iss: undefined! }),
    'another audience': await sign(key, { aud: 'https://other.example' }),
    'an audience that begins alike': await sign(key, { aud: `${audience}/` }),
    'other audiences': await sign(key, { aud: ['a', 'b'] }),
    'no audience': await sign(key, { aud: undefined! }),
    'an empty audience': await sign(key, { aud: [] }),
    expired: await sign(key, { exp: now - 60 }),
    'no expiry': await sign(key, { exp: undefined! }),
    'an expiry that is a text': await sign(key, { exp: `${now + 60}` as unknown as number }),
    'not valid yet': await sign(key, { nbf: now + 600 }),
    'a key of nobody': await sign(other),
    'a key of another with our kid': await sign({ ...other, kid: key.kid }),
    'another algorithm for the kid': await sign(rsa),
    'no signature': `${part({ alg: 'none' })}.${claims}.`,
    'no signature, in other letters': `${part({ alg: 'nOnE', kid: key.kid })}.${claims}.`,
    'an HMAC with the public key': withHmac(pem),
    'an HMAC with nothing': withHmac(''),
    'another body': `${head}.${claims}.${signature}`,
    'a critical extension': `${part({ alg: 'ES256', kid: key.kid, crit: ['x'], x: 1 })}.${body}.${signature}`,
    'a key in the token': `${part({ alg: 'ES256', jwk: other.publicKey.export({ format: 'jwk' }) })}.${(await sign(other)).split('.').slice(1).join('.')}`,
    'two parts': `${head}.${body}`,
    'more parts': `${good}.a`,
    'five parts': `${head}.a.b.c.d`,
    huge: await sign(key, { more: 'x'.repeat(20_000) }),
    'no token': 'a',
    '': '',
    dots: '..',
    'two tokens': `${good}, ${good}`,
    'trailing bytes': `${good} x`,
    quotes: `"${good}"`,
  }
  for (const [name, token] of Object.entries(tokens)) {
    const answer = await get(token)
    assert.equal(answer.status, 401, name)
    assert.equal(answer.field('www-authenticate'), 'Bearer error="invalid_token"', name)
  }
  assert.equal((await get(good, `Authorization: Bearer ${good}`)).status, 401, 'twice')
  assert.equal(origin.requests.length, 0)
  assert.equal((await get(await sign(key, { aud: ['a', audience], nbf: now + 10 }))).status, 200)
})

test('whatever stands in Authorization, only a signed token passes', async t => {
  const { edge, origin, key } = await start(t)
  const good = await sign(key)
  const value = fc.oneof(
    fc.string({ maxLength: 60 }).map(text => text.replace(/[^ -~]/g, '')),
    fc
      .tuple(fc.integer({ min: 1, max: good.length - 1 }), fc.constantFrom('A', 'b', '.', '=', ' ', ','))
      .map(([at, letter]) => `Bearer ${good.slice(0, at)}${letter}${good.slice(at)}`),
    fc.nat(good.length - 1).map(at => `Bearer ${good.slice(0, at)}`),
  )
  await fc.assert(
    fc.asyncProperty(value, async text => {
      const answer = await edge.ask(request('GET /', `Authorization: ${text}`))
      assert.equal(answer.status, 401)
    }),
    { numRuns: 150 },
  )
  assert.equal(origin.requests.length, 0)
})

test('fields with claims are set by the gateway and never by the client', async t => {
  const fields = [
    { name: 'X-User', claim: 'sub' },
    { name: 'X-Groups', claim: 'groups' },
    { name: 'X-Mail', claim: 'email' },
  ]
  const { get, edge, key, origin } = await start(t, { fields })
  const token = await sign(key, { groups: ['a', 'b'], email: 'a\r\nX-Admin: 1' })
  const spellings = ['X-User', 'x_user', 'X.User', 'x~USER', 'X-Groups', 'X_Mail', 'x-mail']
  await get(token, ...spellings.map(name => `${name}: mallory`), 'svc-identity: mallory')
  const sent = origin.requests.at(-1)!
  assert.deepEqual([sent.all('x-user'), sent.all('x-groups'), sent.all('x-mail')], [['alice'], ['a,b'], []])
  assert.doesNotMatch(sent.lines.join(), /mallory/)
  await edge.ask(
    request('POST /', `Authorization: Bearer ${token}`, 'Transfer-Encoding: chunked') +
      chunks('a') +
      '0\r\nX-User: mallory\r\nx_user: mallory\r\n\r\n',
  )
  assert.equal(origin.requests.length, 2)
  const { trailers, lines } = origin.requests.at(-1)!
  assert.doesNotMatch([...trailers, ...lines].join(), /mallory/)
})

test('repeated requests on a connection keep their user, and another token is another user', async t => {
  const { edge, key, origin } = await start(t, { fields: [{ name: 'X-User', claim: 'sub' }] })
  const [alice, bob] = [await sign(key), await sign(key, { sub: 'bob' })]
  const client = await edge.connect()
  const paths = ['/', '/', '/', '/a', '/b', '/b']
  for (const path of paths) {
    await client.send(request(`GET ${path}`, `Authorization: Bearer ${alice}`))
    assert.equal((await client.response()).status, 200)
  }
  await client.send(request('GET /b', `Authorization: Bearer ${bob}`))
  await client.response()
  await client.send(request('GET /b'))
  assert.equal((await client.response()).status, 401)
  assert.deepEqual(
    origin.requests.map(sent => [sent.target, sent.field('x-user')]),
    [...paths.map(path => [path, 'alice']), ['/b', 'bob']],
  )
})

test('a condition decides by the claims', async t => {
  const { get, key } = await start(t, { condition: 'claims.level >= 3 && "admin" in claims.groups' })
  assert.equal((await get(await sign(key, { level: 3, groups: ['admin'] }))).status, 200)
  for (const claims of [
    { level: 2, groups: ['admin'] },
    { level: 3, groups: [] },
    {},
    { level: '3', groups: 'admin' },
  ]) {
    const answer = await get(await sign(key, claims))
    assert.equal(answer.status, 403)
    assert.equal(answer.field('www-authenticate'), 'Bearer error="insufficient_scope"')
  }
})

test('over HTTP/2 and for WebSockets the gate is the same', async t => {
  const { edge, key, origin } = await start(t)
  const client = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  assert.equal((await ask(client)).status, 401)
  const authorization = `Bearer ${await sign(key)}`
  assert.equal((await ask(client, { authorization })).status, 200)
  assert.equal((await ask(client, { authorization, 'svc-identity': 'x' })).status, 200)
  const handshake = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  assert.equal((await edge.ask(request('GET /', ...handshake))).status, 401)
  assert.equal(origin.requests.length, 2)
})

test('of several gates one is enough, and who fails all learns the challenges of all', async t => {
  const origin = await startResponder(t, ok('site'))
  const [one, other] = [await startIssuer(t), await startIssuer(t)]
  const protect = [
    { ...one.gate, issuer: 'https://one.example', condition: 'claims.admin == true' },
    { ...other.gate, issuer: 'https://other.example' },
  ]
  const edge = await startEdge(t, [origin.url], { route: { protect } })
  const get = (token: string) => edge.ask(request('GET /', `Authorization: Bearer ${token}`))
  assert.equal((await get(await sign(one.key, { iss: 'https://one.example', admin: true }))).status, 200)
  assert.equal((await get(await sign(other.key, { iss: 'https://other.example' }))).status, 200)
  assert.equal((await get(await sign(other.key, { iss: 'https://one.example', admin: true }))).status, 401)
  const refused = await get(await sign(one.key, { iss: 'https://one.example', admin: false }))
  assert.equal(refused.status, 403)
  assert.deepEqual(refused.all('www-authenticate'), [
    'Bearer error="insufficient_scope"',
    'Bearer error="invalid_token"',
  ])
})

test('while the key set cannot be had, nobody passes', async t => {
  const origin = await startResponder(t, ok('site'))
  const key = issuerKey()
  const sets: Record<string, string> = {
    'an error': 'HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n',
    'a redirect': 'HTTP/1.1 302 X\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n',
    'no JSON': ok('{'),
    'no keys': ok('{}'),
    'too much': ok(`{"keys":[],"x":"${'x'.repeat(300_000)}"}`),
  }
  for (const [name, response] of Object.entries(sets)) {
    const server = await startResponder(t, response)
    const edge = await startEdge(t, [origin.url], { route: { protect: [gateOf(server.url)] } })
    const answer = await edge.ask(request('GET /', json, `Authorization: Bearer ${await sign(key)}`))
    assert.equal(answer.status, 503, name)
    assert.equal(codeOf(answer), 503)
    assert.equal((await edge.ask(request('GET /'))).status, 401, name)
    assert.equal((await edge.ask(request('GET /', 'Authorization: Bearer a.b.c'))).status, 401, name)
  }
  const { key: known, gate, server } = await startIssuer(t)
  const closed = await startEdge(t, [origin.url], { route: { protect: [{ ...gate, networks: [] }] } })
  const answer = await closed.ask(request('GET /', `Authorization: Bearer ${await sign(known)}`))
  assert.equal(answer.status, 503)
  assert.equal(server.requests.length, 0, 'a special address is not dialled')
  assert.equal(origin.requests.length, 0)
})

test('a rotated key is found at once, but strange names cause one fetch in a while', async t => {
  const origin = await startResponder(t, ok('site'))
  const [old, fresh] = [issuerKey(), issuerKey('RS256')]
  let set = keySetOf(old)
  const server = await startResponder(t, () => ok(set))
  const edge = await startEdge(t, [origin.url], { route: { protect: [gateOf(server.url)] } })
  const get = (token: string) => edge.ask(request('GET /', `Authorization: Bearer ${token}`))
  const before = await sign(old)
  assert.equal((await get(before)).status, 200)
  set = keySetOf(fresh)
  assert.equal((await get(await sign(fresh))).status, 200)
  assert.equal((await get(before)).status, 401, 'the old key is no longer published')
  for (let i = 0; i < 5; i++) assert.equal((await get(await sign(issuerKey()))).status, 401)
  assert.equal(server.requests.length, 2)
})
