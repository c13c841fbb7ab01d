// Key sets and tokens of whoever sends them: nothing is thrown, and nothing but a signed token is accepted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mayBeFrom, readKeySet, verifyJwt } from '../../src/protect/jwt.ts'
import { audience, issuer, issuerKey, keySetOf, sign } from '../help/issuer.ts'

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
  assert.equal(await verdictWith({ ...jwk, kid: key.kid, use: 'enc' }), 'unknown_key')
  assert.equal(typeof (await verdictWith(secret, { ...jwk, kid: key.kid })), 'object', 'its public part is')
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
