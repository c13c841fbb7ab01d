// Key sets and tokens of whoever sends them: nothing is thrown, and nothing but a signed token is accepted.

import assert from 'node:assert/strict'
import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { CompactSign, SignJWT } from 'jose'
import { mayBeFrom, readKeySet, verifyJwt } from '../../src/protect/jwt.ts'
import { audience, issuer, type IssuerKey, issuerKey, keySetOf, sign } from '../help/issuer.ts'

const rules = { issuer, audiences: [audience], algorithms: ['ES256', 'RS256', 'EdDSA', 'PS512'] as const }
const now = Date.UTC(2026, 10, 29)
const key = issuerKey()

test('each algorithm verifies with its own key, and with no other', async () => {
  const keys = (['ES256', 'RS256', 'EdDSA', 'PS512'] as const).map(alg => issuerKey(alg))
  const find = (await readKeySet(keySetOf(...keys)))!
  for (const key of keys) {
    const token = await sign(key, {}, now / 1000)
    assert.equal(typeof (await verifyJwt(token, find, rules, now)), 'object', key.alg)
    const others = rules.algorithms.filter(alg => alg !== key.alg)
    assert.equal(await verifyJwt(token, find, { ...rules, algorithms: others }, now), 'algorithm')
    assert.equal(await verifyJwt(token, find, rules, now + 3_600_000 + 31_000), 'expired')
  }
})

test('private, symmetric and encryption keys of a set are of no use', async () => {
  const secret = { kty: 'oct', k: 'c2VjcmV0', kid: key.kid, alg: 'HS256' }
  const jwk = key.privateKey.export({ format: 'jwk' })
  const token = await sign(key, {}, now / 1000)
  const verdictWith = async (...keys: object[]) =>
    verifyJwt(token, (await readKeySet(JSON.stringify({ keys })))!, rules, now)
  assert.equal(await verdictWith(secret), 'unknown_key')
  for (const use of ['enc', ['sig'], null])
    assert.equal(await verdictWith({ ...jwk, kid: key.kid, use }), 'unknown_key')
  assert.equal(typeof (await verdictWith(secret, { ...jwk, kid: key.kid })), 'object', 'its public part is')
  for (const operations of [[], ['encrypt', 'wrapKey'], 'verify', null, [['verify']]])
    assert.equal(await verdictWith({ ...jwk, kid: key.kid, key_ops: operations }), 'unknown_key')
  for (const operations of [['verify'], ['sign']])
    assert.equal(typeof (await verdictWith({ ...jwk, kid: key.kid, key_ops: operations })), 'object')
})

test('only the set says which key counts, and for which algorithm', async () => {
  const [rsa, evil] = [issuerKey('RS256'), issuerKey('ES256', key.kid)]
  const weak = { ...issuerKey('RS256'), ...generateKeyPairSync('rsa', { modulusLength: 1024 }) }
  const find = (await readKeySet(keySetOf(key, rsa, weak)))!
  const jwk = evil.publicKey.export({ format: 'jwk' })
  const claims = { iss: issuer, aud: audience, sub: 'alice', exp: now / 1000 + 60 }
  const signed = (header: object, by: KeyObject = evil.privateKey, alg = 'ES256') =>
    new SignJWT(claims).setProtectedHeader({ alg, kid: key.kid, ...header }).sign(by)
  for (const header of [
    { jwk },
    { jku: 'http://evil.example/jwks.json' },
    { x5u: 'http://evil.example/cert.pem' },
    { x5c: ['AA=='] },
    { kid: `${key.kid}\0` },
    { kid: '../../dev/null' },
    { kid: evil.kid, typ: 'JWT', cty: 'JWT' },
    { kid: undefined, jwk },
  ])
    assert.equal(
      typeof (await verifyJwt(await signed(header), find, rules, now)),
      'string',
      JSON.stringify(header),
    )
  const ofOtherAlgorithm = await signed({ kid: rsa.kid }, rsa.privateKey, 'PS512')
  assert.equal(await verifyJwt(ofOtherAlgorithm, find, rules, now), 'unknown_key')
  const crossed = await signed({ kid: rsa.kid }, key.privateKey)
  assert.equal(await verifyJwt(crossed, find, rules, now), 'unknown_key')
  // No library signs with such a key.
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg: 'RS256', kid: weak.kid })}.${part(claims)}`
  const short = `${text}.${createSign('sha256').update(text).sign(weak.privateKey, 'base64url')}`
  assert.equal(await verifyJwt(short, find, rules, now), 'signature')
  assert.equal(typeof (await verifyJwt(await signed({}, key.privateKey), find, rules, now)), 'object')
})

test('a token that names no key may be signed with any of its kind, of which eight are tried', async () => {
  const others = Array.from({ length: 7 }, () => issuerKey())
  const rsa = [issuerKey('RS256'), issuerKey('RS256')]
  const claims = { iss: issuer, aud: audience, sub: 'alice', exp: now / 1000 + 60 }
  const signed = ({ alg, privateKey }: IssuerKey, more: object = {}) =>
    new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg }).sign(privateKey)
  const find = (await readKeySet(keySetOf(...rsa, ...others, key)))!
  for (const one of [others[0]!, others[6]!, key, ...rsa])
    assert.equal(typeof (await verifyJwt(await signed(one), find, rules, now)), 'object')
  const stranger = issuerKey()
  assert.equal(await verifyJwt(await signed(stranger), find, rules, now), 'unknown_key')
  const alone = (await readKeySet(keySetOf(key)))!
  assert.equal(await verifyJwt(await signed(stranger), alone, rules, now), 'unknown_key', 'it may be new')
  assert.equal(await verifyJwt(await signed(key, { exp: 1 }), find, rules, now), 'expired')
  assert.equal(await verifyJwt(await signed(key, { aud: 'x' }), find, rules, now), 'other_audience')
  const more = (await readKeySet(keySetOf(issuerKey(), ...others, key)))!
  assert.equal(await verifyJwt(await signed(key), more, rules, now), 'unknown_key')
  const named = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', kid: 'two' })
    .sign(key.privateKey)
  const twins = (await readKeySet(keySetOf(issuerKey('ES256', 'two'), { ...key, kid: 'two' })))!
  assert.equal(typeof (await verifyJwt(named, twins, rules, now)), 'object', 'also of two with one name')
})

test('a token is accepted with 30 seconds of tolerance, from its issuer, for its audience', async () => {
  const find = (await readKeySet(keySetOf(key)))!
  const second = now / 1000
  const claims = { iss: issuer, aud: audience, exp: second + 60 }
  const verdictAt = async (at: number, more: object = {}) => {
    const token = new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg: 'ES256', kid: key.kid })
    const verdict = await verifyJwt(await token.sign(key.privateKey), find, rules, at * 1000)
    return typeof verdict === 'string' ? verdict : verdict.until
  }
  assert.equal(await verdictAt(second + 89), (second + 90) * 1000, 'until the tolerance ends')
  assert.equal(await verdictAt(second + 90), 'expired')
  assert.equal(await verdictAt(second, { nbf: second + 30 }), (second + 90) * 1000)
  assert.equal(await verdictAt(second, { nbf: second + 31 }), 'not_yet_valid')
  assert.equal(await verdictAt(second, { iss: `${issuer}/` }), 'other_issuer')
  assert.equal(await verdictAt(second, { iss: undefined }), 'other_issuer')
  assert.equal(await verdictAt(second, { aud: ['x'] }), 'other_audience')
  assert.equal(await verdictAt(second, { exp: undefined }), 'claims')
})

test('a token of more than 16 KiB is not read, nor one without claims', async () => {
  const find = (await readKeySet(keySetOf(key)))!
  const token = await sign(key, {}, now / 1000)
  const [most, more] = [token.padEnd(16_384, 'A'), token.padEnd(16_385, 'A')]
  assert.ok(mayBeFrom(issuer, token))
  assert.ok(mayBeFrom(issuer, most))
  assert.ok(!mayBeFrom(issuer, more))
  for (const other of ['', 'a', 'a.b.c', token.split('.')[1]!]) assert.ok(!mayBeFrom(issuer, other), other)
  assert.ok(!mayBeFrom(`${issuer}/`, token))
  assert.equal(await verifyJwt(most, find, rules, now), 'signature')
  assert.equal(await verifyJwt(more, find, rules, now), 'malformed')
  assert.equal(await verifyJwt('a', find, rules, now), 'malformed')
  const text = new CompactSign(Buffer.from('7')).setProtectedHeader({ alg: 'ES256', kid: key.kid })
  assert.equal(await verifyJwt(await text.sign(key.privateKey), find, rules, now), 'malformed')
})

test('of a key set, the first hundred keys that may verify count', async () => {
  const token = await sign(key, {}, now / 1000)
  const other = issuerKey()
  const verdictBehind = async (count: number) => {
    const others = Array.from({ length: count }, (_, i) => ({ ...other, kid: `other-${i}` }))
    return verifyJwt(token, (await readKeySet(keySetOf(...others, key)))!, rules, now)
  }
  assert.equal(typeof (await verdictBehind(99)), 'object')
  assert.equal(await verdictBehind(100), 'unknown_key')
  const secrets = Array.from({ length: 100 }, (_, i) => ({ kty: 'oct', k: 'c2VjcmV0', kid: `secret-${i}` }))
  const set = JSON.stringify({ keys: [...secrets, ...JSON.parse(keySetOf(key)).keys] })
  assert.equal(typeof (await verifyJwt(token, (await readKeySet(set))!, rules, now)), 'object')
})

test('a key set is an object with a list of keys, of which others than objects do not count', async () => {
  for (const text of ['', '[]', '{}', '{"keys":{}}']) assert.equal(await readKeySet(text), null, text)
  const { keys } = JSON.parse(keySetOf(key))
  const find = (await readKeySet(JSON.stringify({ keys: [null, 'key', 7, [], ...keys] })))!
  assert.equal(typeof (await verifyJwt(await sign(key, {}, now / 1000), find, rules, now)), 'object')
})

test('any text is a key set or none, and any token has a verdict', async () => {
  const find = (await readKeySet(keySetOf(key)))!
  const good = await sign(key, {}, now / 1000)
  const encoded = fc.json().map(text => Buffer.from(text).toString('base64url'))
  const token = fc.oneof(
    fc.string({ maxLength: 80 }),
    fc.tuple(encoded, encoded, fc.string({ maxLength: 20 })).map(parts => parts.join('.')),
    fc
      .tuple(encoded, fc.constant(good))
      .map(([head, rest]) => `${head}.${rest.split('.').slice(1).join('.')}`),
  )
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.json(), fc.string()), token, async (text, token) => {
      await readKeySet(text)
      assert.equal(typeof (await verifyJwt(token, find, rules, now)), 'string')
      mayBeFrom(issuer, token)
    }),
  )
})
