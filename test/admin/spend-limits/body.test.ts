import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Field } from '../../../src/admin/http/field.ts'
import { readSpendLimits, type SpendOwner } from '../../../src/admin/spend-limits/body.ts'
import { viewSpendLimits } from '../../../src/admin/spend-limits/view.ts'
import type { Fault } from '../../../src/errors/catalogue/refusal.ts'
import type { SpendLimits } from '../../../src/store/records/budget-rule.ts'

const cost = { limit: 1, limitType: 'cost', window: 3600 }

function read(value: unknown, owner: SpendOwner = 'gateway') {
  const faults: Fault[] = []
  const { spend_limits } = new Field({ spend_limits: value }, faults).members([], ['spend_limits'])
  return { limits: readSpendLimits(spend_limits, owner), faults }
}

/** Reads limits without faults. */
function good(value: unknown, owner?: SpendOwner): SpendLimits {
  const { limits, faults } = read(value, owner)
  assert.deepEqual(faults, [])
  return limits!
}

/** Returns the places and words of the faults of one rule. */
function faultsOf(rule: unknown, owner?: SpendOwner): readonly string[] {
  return read({ rules: [rule] }, owner).faults.map(({ pointer, message }) => `${pointer} ${message}`)
}

test('nothing and null are no limits; limits without members are in effect and empty', () => {
  for (const none of [undefined, null]) assert.deepEqual(read(none), { limits: null, faults: [] })
  assert.deepEqual(good({}), { isEnabled: true, rules: [] })
  assert.deepEqual(good({ enabled: false, rules: [] }), { isEnabled: false, rules: [] })
})

test('a rule has defaults that are closed, and null is as good as nothing', () => {
  const nulls = {
    ...{ id: null, time_zone: null, technique: null, model: null, provider: null, metadata: null },
    ...{ token: null, app: null, person: null, when_store_unreachable: null },
  }
  const { rules } = good({ rules: [{ ...cost, id: 'a' }] })
  assert.deepEqual(rules, [
    {
      id: 'a',
      ...{ isEnabled: true, unit: 'cost', limit: 1, window: 3600, technique: 'fixed' },
      whenUnreachable: 'closed',
    },
  ])
  assert.deepEqual(good({ rules: [{ ...cost, ...nulls }] }), good({ rules: [cost] }))
})

test('every kind of rule is read, and its view reads back as the same', () => {
  const partition = { mode: 'partition' }
  const filter = { mode: 'filter', values: ['a', 'b'] }
  const rules = [
    { ...cost, id: 'x', enabled: false, limit: 0.000000001, window: 60, technique: 'sliding' },
    { ...cost, limit: 1_000_000, window: 31_622_400 },
    { ...cost, limit: 123_456.123456789, window: 'month', time_zone: 'Europe/Berlin' },
    { limit: 1_000_000_000_000, limitType: 'tokens', window: 'day', technique: 'fixed' },
    { limit: 1, limitType: 'tokens', window: 'week', when_store_unreachable: 'open' },
    { limit: 100_000, limitType: 'concurrency', token: partition, app: filter, person: partition },
    { ...cost, model: partition, provider: filter, metadata: { team: partition, user: filter } },
    { ...cost, metadata: {} },
  ]
  const limits = good({ enabled: false, rules })
  assert.equal(limits.rules.length, rules.length)
  const view = viewSpendLimits(limits)
  for (const [i, rule] of rules.entries()) assert.deepEqual({ ...view.rules[i], ...rule }, view.rules[i])
  assert.equal((view.rules[3] as { time_zone?: string }).time_zone, 'UTC')
  const again = viewSpendLimits(good(JSON.parse(JSON.stringify(view))))
  assert.deepEqual(again, view)
})

test('generated ids stay when the same body comes again, whatever the amount, and differ otherwise', () => {
  const idsOf = (rules: readonly object[]) => good({ rules }).rules.map(({ id }) => id)
  const [id] = idsOf([cost])
  assert.match(id!, /^[0-9a-f]{32}$/)
  assert.deepEqual(idsOf([{ ...cost, limit: 2, enabled: false }]), [id])
  for (const other of [
    { ...cost, window: 60 },
    { ...cost, technique: 'sliding' },
    { ...cost, limitType: 'tokens' },
    { ...cost, model: { mode: 'partition' } },
    { ...cost, metadata: { team: { mode: 'partition' } } },
  ])
    assert.notDeepEqual(idsOf([other]), [id])
  const twice = idsOf([cost, cost])
  assert.equal(new Set(twice).size, 2)
  assert.deepEqual(idsOf([cost, cost]), twice)
  assert.equal(new Set(idsOf([{ ...cost, window: 60, id }, cost])).size, 2)
})

test('each fault names its place and the rule', () => {
  const at = '/spend_limits/rules/0'
  const place = 'spend_limits.rules[0]'
  const dollars = `must be a number of USD above 0, up to 1000000, with at most 9 decimals`
  const window = 'must be a whole number of seconds from 60 to 31622400, or day, week, month'
  for (const limit of [0, -1, 1e-10, 1_000_000.01, '1', true, null, Number.POSITIVE_INFINITY, Number.NaN])
    assert.deepEqual(faultsOf({ ...cost, limit }), [`${at}/limit ${place}.limit ${dollars}`], `${limit}`)
  for (const limit of [0, 1.5, 1e13, '5', null])
    assert.deepEqual(faultsOf({ ...cost, limitType: 'tokens', limit }), [
      `${at}/limit ${place}.limit must be a whole number from 1 to 1000000000000`,
    ])
  for (const wrong of [59, 60.5, 31_622_401, 'hour', '3600', true])
    assert.deepEqual(faultsOf({ ...cost, window: wrong }).length, 1, `${wrong}`)
  assert.deepEqual(faultsOf({ ...cost, window: 59 }), [`${at}/window ${place}.window ${window}`])
  for (const time_zone of ['Mars/Olympus', '+01:00', '', 'Europe/Berlin ', 5])
    assert.equal(faultsOf({ ...cost, window: 'day', time_zone }).length, 1, `${time_zone}`)
  const expected: readonly [rule: object, fault: string][] = [
    [{ ...cost, budget: 5 }, `${at}/budget ${place}.budget is an unknown member`],
    [{ limit: 1, limitType: 'cost' }, `${at}/window ${place}.window is required`],
    [{ limitType: 'cost', window: 60 }, `${at}/limit ${place}.limit is required`],
    [{ limit: 1, window: 60 }, `${at}/limitType ${place}.limitType is required`],
    [
      { ...cost, limitType: 'requests' },
      `${at}/limitType ${place}.limitType must be cost or tokens or concurrency`,
    ],
    [
      { ...cost, window: 'day', technique: 'sliding' },
      `${at}/technique ${place}.technique must be fixed or be left out, since window is day`,
    ],
    [
      { ...cost, time_zone: 'UTC' },
      `${at}/time_zone ${place}.time_zone must be left out, since window is in seconds`,
    ],
    [
      { limit: 1, limitType: 'concurrency', window: 60 },
      `${at}/window ${place}.window must be left out for calls at a time`,
    ],
    [{ ...cost, id: 'a b' }, `${at}/id ${place}.id must be 1 to 64 letters, digits, hyphens and underscores`],
    [{ ...cost, model: { mode: 'filter' } }, `${at}/model/values ${place}.model.values is required`],
    [
      { ...cost, token: { mode: 'partition', values: ['x'] } },
      `${at}/token/values ${place}.token.values must be left out, since mode is partition`,
    ],
    [
      { ...cost, metadata: { team: { mode: 'filter', values: ['a', 'a'] } } },
      `${at}/metadata/team/values/1 ${place}.metadata.team.values[1] duplicates an earlier item`,
    ],
    [
      { ...cost, metadata: { '': { mode: 'partition' } } },
      `${at}/metadata ${place}.metadata must have at most 5 members, with names of 1 to 100 printable characters`,
    ],
  ]
  for (const [rule, fault] of expected) assert.deepEqual(faultsOf(rule), [fault])
  assert.deepEqual(
    read({ rule: [] }).faults.map(({ pointer }) => pointer),
    ['/spend_limits/rule'],
  )
})

test('ids are unique, and there are as many rules as may be', () => {
  const twice = read({
    rules: [
      { ...cost, id: 'a' },
      { ...cost, id: 'b' },
      { ...cost, id: 'a' },
    ],
  })
  assert.deepEqual(twice.faults, [
    {
      code: 10004,
      message: 'spend_limits.rules[2].id duplicates the id of an earlier rule',
      pointer: '/spend_limits/rules/2/id',
    },
  ])
  for (const [owner, most] of [
    ['gateway', 20],
    ['token', 5],
  ] as const) {
    const rules = Array.from({ length: most }, () => cost)
    assert.equal(good({ rules }, owner).rules.length, most)
    assert.deepEqual(
      read({ rules: [...rules, cost] }, owner).faults.map(({ pointer }) => pointer),
      ['/spend_limits/rules'],
    )
  }
})

test('the rules of a token have neither partitions nor criteria that it meets by itself', () => {
  const filter = { mode: 'filter', values: ['openai'] }
  assert.equal(
    good({ rules: [{ ...cost, provider: filter, metadata: { a: filter } }] }, 'token').rules.length,
    1,
  )
  for (const name of ['token', 'app', 'person'])
    assert.match(faultsOf({ ...cost, [name]: filter }, 'token').join(), /is an unknown member$/)
  for (const partitioned of [{ model: { mode: 'partition' } }, { metadata: { a: { mode: 'partition' } } }])
    assert.match(faultsOf({ ...cost, ...partitioned }, 'token').join(), /mode must be filter$/)
})

test('whatever comes is read or refused, and what is read can be read again', () => {
  const member = fc.constantFrom(
    ...[
      'id',
      'enabled',
      'limit',
      'limitType',
      'window',
      'time_zone',
      'technique',
      'model',
      'metadata',
      'token',
    ],
    '__proto__',
  )
  const value = fc.oneof(
    fc.constantFrom<unknown>('cost', 'tokens', 'concurrency', 'day', 'UTC', 'fixed', 60, 1, 0.5, true, null),
    fc.constantFrom<unknown>(
      { mode: 'partition' },
      { mode: 'filter', values: ['a'] },
      { a: { mode: 'partition' } },
    ),
    fc.jsonValue({ maxDepth: 3 }),
    fc.double(),
  )
  const rule = fc.oneof(
    fc.dictionary(member, value),
    fc.dictionary(member, value).map(members => ({ ...cost, ...members })),
    fc.dictionary(member, value, { maxKeys: 3 }).map(members => ({ ...cost, window: 'day', ...members })),
  )
  const limits = fc.oneof(fc.jsonValue(), fc.record({ rules: fc.array(rule, { maxLength: 6 }) }))
  fc.assert(
    fc.property(limits, fc.constantFrom<SpendOwner>('gateway', 'token'), (value, owner) => {
      const { limits, faults } = read(value, owner)
      if (faults.length > 0 || limits === null) return
      const view = viewSpendLimits(limits)
      assert.deepEqual(good(JSON.parse(JSON.stringify(view)), owner), JSON.parse(JSON.stringify(limits)))
      for (const { limit, unit, window } of limits.rules) {
        assert.ok(limit > 0 && Number.isSafeInteger(unit === 'cost' ? Math.ceil(limit * 1e9) : limit))
        assert.equal(window === null, unit === 'concurrency')
      }
    }),
  )
})
