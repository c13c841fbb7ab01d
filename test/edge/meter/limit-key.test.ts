import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { LimitKey } from '../../../src/config/model/limit-config.ts'
import { keyOf, otherKeysOf } from '../../../src/edge/meter/limit-key.ts'
import type { EdgeSettings } from '../../help/edge.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

const address: LimitKey = { by: 'address' }
const path: LimitKey = { by: 'path' }
const token: LimitKey = { by: 'token' }
const mine: LimitKey = { by: 'header', name: 'x-mine' }

function asker(t: TestContext, settings: EdgeSettings = {}) {
  const steps = stepsOver(t, ['http://127.0.0.1:1'], settings)
  return (parts: readonly LimitKey[], line: string, fields: readonly string[] = [], peer?: string) =>
    keyOf(steps.exchange(request(line, ...fields), peer), parts)
}

test('clients are told apart by their address, of IPv6 by its network', t => {
  const key = asker(t, { trustedProxies: ['192.0.2.9'] })
  assert.equal(key([address], 'GET /'), '192.0.2.1')
  assert.equal(key([address], 'GET /', [], '2001:db8::1'), key([address], 'GET /', [], '2001:db8::ffff'))
  const forwarded = ['X-Forwarded-For: 203.0.113.7']
  assert.equal(key([address], 'GET /', forwarded), '192.0.2.1')
  assert.equal(key([address], 'GET /', forwarded, '192.0.2.9'), '203.0.113.7')
})

test('the key is the value of a field, or the address where the field is missing or does not count', t => {
  const key = asker(t)
  const plain = key([mine], 'GET /')
  assert.equal(plain, '192.0.2.1\n')
  assert.equal(key([mine], 'GET /', ['X-Mine: a']), key([mine], 'GET /other', ['x-mine: a'], '192.0.2.2'))
  assert.notEqual(key([mine], 'GET /', ['X-Mine: a']), key([mine], 'GET /', ['X-Mine: b']))
  assert.equal(key([mine], 'GET /', ['X-Mine: a', 'X-Mine: b']), plain, 'of two nobody knows which counts')
  assert.equal(key([token], 'GET /', ['Authorization: Bearer a', 'Authorization: Bearer a']), plain)
  for (const field of ['Basic YTpi', 'Bearer', 'Bearer a b', 'Bearer a,b', 'Bearer é'])
    assert.equal(key([token], 'GET /', [`Authorization: ${field}`]), plain, field)
  const spellings = ['Bearer abc', 'bearer abc', 'BEARER  abc', 'Bearer\tabc']
  assert.equal(new Set(spellings.map(value => key([token], 'GET /', [`Authorization: ${value}`]))).size, 1)
})

test('no client can send the key of another', t => {
  const key = asker(t)
  const victims = ['192.0.2.1', '2001:db8::/64', '203.0.113.7']
  for (const victim of victims) {
    assert.notEqual(key([mine], 'GET /', [`X-Mine: ${victim}`]), `${victim}\n`)
    assert.notEqual(key([token], 'GET /', [`Authorization: Bearer ${victim}`]), `${victim}\n`)
  }
  assert.notEqual(key([token], 'GET /', ['Authorization: Bearer a']), key([mine], 'GET /', ['X-Mine: a']))
  assert.notEqual(
    key([token], 'GET /', ['Authorization: Bearer a']),
    key([mine], 'GET /', ['X-Mine: token a']),
  )
  // Two parts never meet as other two.
  const pair = (a: string, b: string) =>
    key([mine, { by: 'header', name: 'x-other' }], 'GET /', [`X-Mine: ${a}`, `X-Other: ${b}`])
  assert.notEqual(pair('a', 'bfield c'), pair('afield b', 'c'))
  const value = fc.string({ unit: fc.constantFrom('a', ' ', 'field', 'token', '1', '.'), maxLength: 5 })
  fc.assert(
    fc.property(value, value, value, value, (a, b, c, d) => {
      const isSame = a.trim() === c.trim() && b.trim() === d.trim()
      assert.equal(pair(a, b) === pair(c, d), isSame)
    }),
  )
})

test('a long value is known by its digest, and so is a long path', t => {
  const key = asker(t)
  for (const length of [190, 201, 20_000]) {
    const found = key([mine], 'GET /', [`X-Mine: ${'x'.repeat(length)}`])
    assert.ok(found.length <= 202, `${found.length}`)
    assert.notEqual(found, key([mine], 'GET /', [`X-Mine: ${'x'.repeat(length - 1)}y`]))
    assert.ok(key([path], `GET /${'x'.repeat(length)}`).length <= 207)
  }
})

test('a path that origins may read in several ways counts for each of them', t => {
  const steps = stepsOver(t, ['http://127.0.0.1:1'])
  const keys = (target: string, parts: readonly LimitKey[]) => {
    const x = steps.exchange(request(`GET ${target}`))
    return [keyOf(x, parts), ...otherKeysOf(x, parts)]
  }
  assert.deepEqual(keys('/login', [path]), ['path /login\n'])
  assert.equal(keys('/%6cogin?x=1', [path])[0], keys('/login', [path])[0])
  assert.ok(keys('/login;a', [path]).includes('path /login\n'))
  assert.ok(keys('//host/login', [address, path]).includes('192.0.2.1\npath /login\n'))
  assert.equal(keys('/login;a', [address]).length, 1)
})

test('a part is found once, however many rules count by it', t => {
  const steps = stepsOver(t, ['http://127.0.0.1:1'])
  const x = steps.exchange(request('GET /', 'X-Mine: a'))
  const first = keyOf(x, [mine])
  x.head.fields.length = 0
  assert.equal(keyOf(x, [mine]), first)
  assert.equal(keyOf(x, [token, mine]), `192.0.2.1\n${first}`)
})
