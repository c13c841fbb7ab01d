// Origins learn by a token of the gateway who a request is from, and can check it with a key that the zone publishes.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose'
import type { IdentityConfig, JwtGateConfig } from '../../src/config/model/protect-config.ts'
import type { SigningKeys } from '../../src/tokens/signing-keys.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { codeOf, Edge, edgeConfig, listenAt, startEdge } from '../help/edge.ts'
import { startIdentityKeys } from '../help/identity-keys.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { issuer, sign, startIssuer } from '../help/issuer.ts'
import { ok, startResponder } from '../help/origin.ts'
import { request } from '../help/raw.ts'

const identity: IdentityConfig = {
  issuer: 'https://site.test',
  audience: 'site',
  claims: ['email', 'groups'],
}
const keySetPath = '/cdn-cgi/identity/jwks.json'
async function start(t: TestContext, gate: Partial<JwtGateConfig> = {}, keys?: Pick<SigningKeys, 'current'>) {
  const clock = new ManualClock(Date.now())
  const origin = await startResponder(t, ok('site'))
  const { key, gate: usual } = await startIssuer(t)
  const identityKeys = keys ?? (await startIdentityKeys(t, clock))
  const route = { protect: [{ ...usual, ...gate }] }
  const config = edgeConfig([origin.url], { ...patient, h2c: true, zone: { identity }, route })
  const edge = await listenAt(t, new Edge(t, config, { clock, identityKeys }))
  const get = (token: string, ...fields: string[]) =>
    edge.ask(request('GET /', 'Accept: application/json', `Authorization: Bearer ${token}`, ...fields))
  const told = () => origin.requests.at(-1)!.field('svc-identity')!
  return { clock, origin, edge, key, get, told }
}

test('an origin can check with the published keys who it is', async t => {
  const { edge, key, get, told } = await start(t)
  const claims = { sub: 'alice', email: 'alice@example.com', groups: ['a', 'b'], role: 'secret' }
  assert.equal((await get(await sign(key, claims))).status, 200)
  const published = await edge.ask(request(`GET ${keySetPath}`))
  assert.equal(published.status, 200)
  assert.equal(published.field('content-type'), 'application/json')
  const keySet = JSON.parse(published.text) as JSONWebKeySet
  assert.deepEqual(
    keySet.keys.map(jwk => Object.keys(jwk).sort()),
    [['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']],
    'nothing private',
  )
  const { payload, protectedHeader } = await jwtVerify(told(), createLocalJWKSet(keySet), {
    issuer: 'https://site.test',
    audience: 'site',
    algorithms: ['ES256'],
  })
  const { iat, exp, ...rest } = payload
  assert.equal(exp! - iat!, 300)
  assert.deepEqual(rest, {
    iss: 'https://site.test',
    aud: 'site',
    sub: `${issuer}#alice`,
    email: 'alice@example.com',
    groups: ['a', 'b'],
  })
  assert.equal(protectedHeader.alg, 'ES256')
})

test('it replaces whatever the client claims, over either version, and is no trace of the token', async t => {
  const { edge, key, get, origin, told } = await start(t)
  const token = await sign(key)
  await get(token, 'svc-identity: forged', 'Svc_Identity: forged', 'Connection: svc-identity')
  const client = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  const answer = await ask(client, {
    ':authority': 'site.test',
    authorization: `Bearer ${token}`,
    'svc-identity': 'forged',
  })
  assert.equal(answer.status, 200)
  assert.equal(origin.requests.length, 2)
  for (const sent of origin.requests) {
    assert.equal(sent.all('svc-identity').length, 1)
    assert.doesNotMatch(sent.lines.join(), /forged/)
    assert.ok(!sent.lines.join().includes(token))
  }
  assert.equal(decodeJwt(told()).sub, `${issuer}#alice`)
})

test('it is signed anew each minute, on one connection too', async t => {
  const { clock, edge, key, origin } = await start(t)
  const client = await edge.connect()
  const head = request('GET /', `Authorization: Bearer ${await sign(key)}`)
  const told: string[] = []
  for (const pause of [0, 59_000, 1_001, -120_000, 3_700_000]) {
    clock.advance(pause)
    await client.send(head)
    assert.equal((await client.response()).status, pause > 60_000 ? 401 : 200)
    told.push(origin.requests.at(-1)!.field('svc-identity')!)
  }
  const [first, second, third, back] = told
  assert.equal(second, first)
  assert.notEqual(third, first)
  assert.equal(decodeJwt(third!).iat! - decodeJwt(first!).iat!, 60)
  assert.equal(decodeJwt(back!).iat! - decodeJwt(third!).iat!, -120, 'the clock was set back')
  assert.equal(origin.requests.length, 4, 'and no longer than the token of the client is valid')
})

test('tokens of two people on one connection are told apart', async t => {
  const { edge, key, origin } = await start(t)
  const client = await edge.connect()
  const names = ['alice', 'bob', 'alice', 'bob']
  for (const sub of names) {
    await client.send(request('GET /', `Authorization: Bearer ${await sign(key, { sub })}`))
    assert.equal((await client.response()).status, 200)
  }
  assert.deepEqual(
    origin.requests.map(sent => decodeJwt(sent.field('svc-identity')!).sub),
    names.map(name => `${issuer}#${name}`),
  )
})

test('where the gate does not know who it is, the origin is told nothing', async t => {
  const { key, get, origin } = await start(t)
  for (const sub of [undefined, '', 7]) {
    assert.equal((await get(await sign(key, { sub: sub as string }), 'svc-identity: forged')).status, 200)
    assert.equal(origin.requests.at(-1)!.field('svc-identity'), null, String(sub))
  }
})

test('without a key to sign with, nobody passes, and there is no key set', async t => {
  let isDown = true
  const real = await startIdentityKeys(t, new ManualClock())
  const keys = { current: () => (isDown ? Promise.reject(new Error('away')) : real.current()) }
  const { edge, key, get, origin } = await start(t, {}, keys)
  const token = await sign(key)
  const refused = await get(token)
  assert.equal(refused.status, 503)
  assert.equal(refused.field('retry-after'), '5')
  assert.equal(codeOf(refused), 503)
  assert.equal((await edge.ask(request(`GET ${keySetPath}`))).status, 503)
  assert.equal(origin.requests.length, 0)
  isDown = false
  assert.equal((await get(token)).status, 200)
})

test('the key set is read only, and only where the zone has one', async t => {
  const { edge, origin } = await start(t)
  assert.equal((await edge.ask(request(`POST ${keySetPath}`, 'Content-Length: 0'))).status, 405)
  const head = await edge.ask(request(`HEAD ${keySetPath}`))
  assert.equal(head.status, 200)
  assert.equal((await edge.ask(request(`GET ${keySetPath}?a=b`))).status, 200)
  for (const path of [`${keySetPath}/`, `${keySetPath}x`, '/cdn-cgi/identity', `/.${keySetPath}`])
    assert.equal((await edge.ask(request(`GET ${path}`))).status, 401, path)
  const plain = await startEdge(t, [origin.url])
  await plain.ask(request(`GET ${keySetPath}`))
  assert.equal(origin.requests.length, 1, 'without identity it is a path as any other')
})
