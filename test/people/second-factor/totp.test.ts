import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { base32, matchingStep, otpauthUri, stepAt, totpCode } from '../../../src/people/second-factor/totp.ts'

const secret = Buffer.from('12345678901234567890')

test('codes are those of RFC 6238 appendix B, their last six digits', () => {
  const vectors: [seconds: number, code: string][] = [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ]
  for (const [seconds, code] of vectors)
    assert.equal(totpCode(secret, stepAt(seconds * 1_000)), code.slice(-6), String(seconds))
})

test('codes of counters are those of RFC 4226 appendix D', () => {
  const codes = '755224 287082 359152 969429 338314 254676 287922 162583 399871 520489'.split(' ')
  assert.deepEqual(
    codes.map((_, counter) => totpCode(secret, counter)),
    codes,
  )
})

test('base32 is that of RFC 4648 section 10, without padding', () => {
  const vectors = ['', 'MY', 'MZXQ', 'MZXW6', 'MZXW6YQ', 'MZXW6YTB', 'MZXW6YTBOI']
  assert.deepEqual(
    vectors.map((_, i) => base32(Buffer.from('foobar'.slice(0, i)))),
    vectors,
  )
})

test('a code is good for its step and the two beside it, and never for one that was used', () => {
  const secrets = fc.uint8Array({ minLength: 16, maxLength: 32 }).map(bytes => Buffer.from(bytes))
  const moments = fc.integer({ min: 60_000, max: 4_000_000_000_000 })
  fc.assert(
    fc.property(secrets, moments, fc.integer({ min: -3, max: 3 }), (key, now, away) => {
      const code = totpCode(key, Math.max(0, stepAt(now) + away))
      const nearby = [-1, 0, 1].map(by => stepAt(now) + by)
      const same = nearby.filter(near => totpCode(key, near) === code)
      if (Math.abs(away) <= 1) assert.ok(same.length > 0)
      assert.equal(matchingStep(key, code, now, 0), same.at(-1) ?? null)
      assert.equal(matchingStep(key, code, now, same.at(-1) ?? 0), null)
    }),
  )
})

test('a code has six digits', () => {
  const now = 59_000
  for (const code of ['', '28708', '2870822', '２８７０８２', '28708x', ' 287082', '287082\n'])
    assert.equal(matchingStep(secret, code, now, 0), null, code)
  assert.equal(matchingStep(secret, '287082', now, 0), 1)
})

test('the link for the app names issuer, holder and secret', () => {
  const uri = new URL(otpauthUri(secret, 'Gate house', 'a&b@example.com'))
  assert.equal(uri.protocol, 'otpauth:')
  assert.equal(decodeURIComponent(uri.pathname), '/Gate house:a&b@example.com')
  assert.deepEqual(Object.fromEntries(uri.searchParams), {
    secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
    issuer: 'Gate house',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  })
})
