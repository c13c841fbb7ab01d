import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { endCookie, readCookies, writeCookie } from '../../../src/pages/forms/cookies.ts'
import { newSecret } from '../../../src/pages/forms/csrf.ts'

const secret = newSecret()
const none = { gatehouse: null, 'gatehouse-visit': null, 'gatehouse-site': null, 'gatehouse-way': null }

test('a cookie is written with all that keeps it from scripts, other sites and other hosts', () => {
  assert.equal(
    writeCookie('gatehouse', secret, true),
    `__Host-gatehouse=${secret}; Path=/; HttpOnly; SameSite=Lax; Secure`,
  )
  assert.equal(
    writeCookie('gatehouse-visit', secret, false),
    `gatehouse-visit=${secret}; Path=/; HttpOnly; SameSite=Lax`,
  )
  assert.equal(
    endCookie('gatehouse', true),
    '__Host-gatehouse=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0',
  )
  assert.throws(() => writeCookie('gatehouse', 'a; Domain=evil.example', true), TypeError)
})

test('each cookie is read, among those of others', () => {
  const field = `a=1; gatehouse=${secret}; theme="x y"; gatehouse-visit=${secret}; odd; =x`
  assert.deepEqual(readCookies(field, false), { ...none, gatehouse: secret, 'gatehouse-visit': secret })
  assert.deepEqual(readCookies(undefined, false), none)
})

test('over https only those with the prefix count, over http only those without', () => {
  const plain = `gatehouse=${secret}`
  assert.deepEqual(readCookies(plain, true), none)
  assert.deepEqual(readCookies(`__Host-${plain}`, false), none)
  assert.equal(readCookies(`__Host-${plain}`, true).gatehouse, secret)
})

test('a cookie that comes twice, or was not made by us, is none', () => {
  for (const field of [
    `gatehouse=${secret}; gatehouse=${newSecret()}`,
    `gatehouse=; gatehouse=${secret}`,
    `gatehouse="${secret}"`,
    `gatehouse=${secret}x`,
    `gatehouse=${secret}=`,
    `gatehouse= ${secret}`,
    `Gatehouse=${secret}`,
    `gatehouse=${secret},x=1`,
  ])
    assert.equal(readCookies(field, false).gatehouse, null, field)
})

test('whatever a field says, it is read as nothing or as what was written', () => {
  const piece = fc.constantFrom('gatehouse', '__Host-gatehouse', '=', ';', '; ', ' ', secret, '"', ',')
  const field = fc.oneof(
    fc.string(),
    fc.array(piece).map(pieces => pieces.join('')),
  )
  fc.assert(
    fc.property(field, fc.boolean(), (field, isSecure) => {
      for (const value of Object.values(readCookies(field, isSecure)))
        assert.ok(
          value === null ||
            (/^[\w-]{43}$/.test(value) && field.includes(`gatehouse=${value}`)) ||
            field.includes(`gatehouse-visit=${value}`),
        )
    }),
  )
})
