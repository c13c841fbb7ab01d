import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  conditionKinds,
  readAccessRule,
  viewAccessRule,
} from '../../../../src/admin/zones/rules/access-rule-body.ts'
import { Field } from '../../../../src/admin/http/field.ts'
import { parseNetwork } from '../../../../src/net/address/address.ts'
import type { Fault } from '../../../../src/errors/catalogue/refusal.ts'
import { anyCharacter } from '../../../help/any-text.ts'

/** A value of each kind of condition as responses show it. */
const shown = {
  ip: ['192.0.2.1', '2001:db8::/32'],
  list: 'partners',
  country: ['DE', 'FR'],
  asn: [64496, 4_294_967_295],
  user_agent: ['*bot*', ''],
  referer: ['spam.example', '*.spam.example'],
  referer_not: ['shop.example'],
  path: ['/admin', '/wp-login.php'],
  expression: 'request.method == "POST" && zone == "main"',
}

function read(body: unknown, { lists = ['partners'], hasGeo = true } = {}) {
  const faults: Fault[] = []
  const { rule } = readAccessRule(new Field(body, faults), { lists: () => lists, hasGeo: () => hasGeo })
  return { rule, faults }
}

const pointersOf = (body: unknown, data = {}) => read(body, data).faults.map(({ pointer }) => pointer)

test('every kind of condition is read, and shown as it was set', () => {
  assert.deepEqual(Object.keys(shown), conditionKinds)
  const id = '0'.repeat(32)
  for (const kind of conditionKinds)
    for (const action of ['allow', 'deny', 'legal']) {
      const body = { id, action, [kind]: shown[kind], description: null }
      const { rule, faults } = read(body)
      assert.deepEqual([faults, rule.condition.kind], [[], kind])
      assert.deepEqual(viewAccessRule({ id, ...rule }), body)
    }
})

test('there is exactly one condition', () => {
  const none = read({ action: 'deny' }).faults
  assert.deepEqual(
    none.map(({ code, pointer }) => [code, pointer]),
    [[10002, '']],
  )
  assert.match(none[0]!.message, /^The body must have exactly one condition of ip, list, country/)
  assert.deepEqual(pointersOf({ action: 'deny', ip: ['192.0.2.1'], path: ['/'] }), [''])
})

test('all faults are reported at once, each with its position', () => {
  const body = { action: 'block', ip: ['192.0.2.1', 'x', '10.0.0.0/33', 7], description: 5, colour: 'red' }
  assert.deepEqual(pointersOf(body), ['/colour', '/ip/1', '/ip/2', '/ip/3', '/action', '/description'])
  assert.deepEqual(pointersOf([]), [''])
})

test('values are what the configuration file takes', () => {
  for (const [kind, wrong, at = '/0'] of [
    ['ip', ['10.0.0.0/33']],
    ['ip', ['fe80::1%eth0']],
    ['ip', [], ''],
    ['ip', '192.0.2.1', ''],
    ['ip', Array(101).fill('192.0.2.1'), ''],
    ['list', 'strangers', ''],
    ['list', ['partners'], ''],
    ['country', ['Germany']],
    ['country', ['UK']],
    ['country', ['XY']],
    ['asn', [0]],
    ['asn', [4_294_967_296]],
    ['asn', ['64496']],
    ['asn', [null]],
    ['user_agent', ['a\nb']],
    ['user_agent', ['x'.repeat(257)]],
    ['user_agent', ['\ud800']],
    ['referer', ['https://spam.example/']],
    ['referer', ['spam.example:8080']],
    ['referer_not', ['*.*.example']],
    ['path', ['admin']],
    ['path', ['/a/../b']],
    ['path', [`/${'x'.repeat(1000)}`]],
    ['expression', 'request.path', ''],
    ['expression', 'response.code == 500', ''],
  ] as const)
    assert.deepEqual(pointersOf({ action: 'deny', [kind]: wrong }), [`/${kind}${at}`], `${kind} ${wrong}`)
})

test('a country is kept in upper case', () => {
  assert.deepEqual(read({ action: 'deny', country: ['de'] }).rule.condition, {
    kind: 'country',
    countries: ['DE'],
  })
})

test('an unknown list is refused with the known ones', () => {
  const messageFor = (lists: string[]) => read({ action: 'allow', list: 'x' }, { lists }).faults[0]!.message
  assert.equal(messageFor(['a', 'b']), 'list must be a or b')
  assert.equal(messageFor([]), 'list must be the name of a list, but the configuration has none')
})

test('countries and networks need a database, in expressions too', () => {
  for (const kind of ['country', 'asn', 'expression'] as const) {
    const value = kind === 'expression' ? 'request.asn == 64496' : shown[kind]
    const { faults } = read({ action: 'deny', [kind]: value }, { hasGeo: false })
    assert.deepEqual(
      faults.map(({ pointer }) => pointer),
      [`/${kind}`],
    )
    assert.match(faults[0]!.message, / needs geo\.databases in the configuration/)
  }
})

test('any body is refused, or is a rule as the types say', () => {
  const text = fc.oneof(
    fc.constantFrom('allow', 'partners', 'DE', '10.0.0.0/8', '*.example.com', '/a', 'true'),
    fc.ipV4(),
    fc.ipV6(),
    fc.string({ unit: anyCharacter }),
  )
  const value = fc.oneof(
    fc.constantFrom(...Object.values(shown)),
    text,
    fc.array(fc.oneof(text, fc.nat())),
    fc.jsonValue(),
  )
  const bodies = fc
    .tuple(fc.constantFrom(...conditionKinds), value, fc.constantFrom('deny', 'allow', 'ban'))
    .map(([kind, value, action]) => ({ action, [kind]: value }))
  let good = 0
  fc.assert(
    fc.property(
      fc.oneof({ weight: 9, arbitrary: bodies }, { weight: 1, arbitrary: fc.jsonValue() }),
      body => {
        const { rule, faults } = read(body)
        if (faults.length > 0) return
        good++
        const { condition } = rule
        assert.equal(Object.keys(condition).length, 2)
        if (condition.kind === 'ip') assert.ok(condition.networks.every(one => parseNetwork(one) !== null))
        if (condition.kind === 'asn') assert.ok(condition.numbers.every(one => one > 0 && one < 2 ** 32))
        if (condition.kind === 'list') assert.equal(condition.name, 'partners')
      },
    ),
    { numRuns: 3_000 },
  )
  assert.ok(good > 50)
})
