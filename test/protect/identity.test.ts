import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { decodeProtectedHeader, jwtVerify } from 'jose'
import { signIdentity, subjectOf } from '../../src/protect/identity.ts'

const now = Date.UTC(2026, 10, 29) + 999
const { privateKey: key, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const config = { issuer: 'https://gate.example', audience: 'shop', claims: ['email', 'toString', 'roles'] }

test('an origin reads who it is, for five minutes, with the claims that were asked for', async () => {
  const subject = { id: 'person#7', claims: { email: 'ann@example.com', roles: ['dev'], secret: 'x' } }
  const token = await signIdentity(subject, config, { kid: 'k1', key }, now)
  assert.deepEqual(decodeProtectedHeader(token), { alg: 'ES256', typ: 'JWT', kid: 'k1' })
  const { payload } = await jwtVerify(token, publicKey, { currentDate: new Date(now) })
  const iat = Math.floor(now / 1000)
  assert.deepEqual(payload, {
    ...{ iss: 'https://gate.example', aud: 'shop', sub: 'person#7', iat, exp: iat + 300 },
    ...{ email: 'ann@example.com', roles: ['dev'] },
  })
})

test('a claim cannot take the place of what the gateway says', async () => {
  const claims = { iss: 'https://evil.example', aud: 'bank', sub: 'root', exp: 2 ** 40, iat: 0 }
  const listed = { ...config, claims: Object.keys(claims) }
  const token = await signIdentity({ id: 'person#7', claims }, listed, { kid: 'k1', key }, now)
  const { payload } = await jwtVerify(token, publicKey, { currentDate: new Date(now) })
  const iat = Math.floor(now / 1000)
  assert.deepEqual(payload, {
    ...{ iss: 'https://gate.example', aud: 'shop', sub: 'person#7', iat, exp: iat + 300 },
  })
})

test('a subject names its issuer; without a name there is none', () => {
  assert.equal(subjectOf('https://one.example', { sub: 'ann' }), 'https://one.example#ann')
  for (const claims of [{}, { sub: '' }, { sub: 7 }, { sub: null }])
    assert.equal(subjectOf('https://one.example', claims), null)
})
