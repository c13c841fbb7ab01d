import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readNewToken, readToken, type TokenBody } from '../../../src/admin/tokens/body.ts'
import type { Fault } from '../../../src/errors/catalogue/refusal.ts'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { account } from '../../tokens/token-with.ts'

const now = Date.UTC(2026, 0, 1)
const id = 'f'.repeat(32)
const [group] = permissionGroups

const policy = {
  effect: 'allow',
  permission_groups: [{ id: group.id }],
  resources: { [`svc.api.account.${account}`]: '*' },
}
const good = { name: 'deploy', policies: [policy] }

const read = (body: unknown) => readNewToken(body, account, now)

/** Gives the pointers of what is wrong. */
function pointers(body: unknown): (string | null)[] {
  const result = read(body)
  assert.ok(Array.isArray(result), 'taken')
  return (result as Fault[]).map(({ pointer }) => pointer)
}

test('name and policies are enough', () => {
  assert.deepEqual(read(good), {
    name: 'deploy',
    policies: [{ effect: 'allow', permissionGroups: [group.id], accounts: [account] }],
    notBefore: null,
    expiresOn: null,
    addressesIn: [],
    addressesNotIn: [],
    status: null,
  })
})

test('times and addresses are read', () => {
  const condition = { request_ip: { in: ['192.0.2.0/24', '2001:db8::1'], not_in: ['192.0.2.1'] } }
  const times = { not_before: '2026-02-01T00:00:00+01:00', expires_on: '2026-03-01T00:00:00.5Z' }
  const token = read({ ...good, condition, ...times }) as TokenBody
  assert.deepEqual(token.addressesIn, condition.request_ip.in)
  assert.deepEqual(token.addressesNotIn, condition.request_ip.not_in)
  assert.equal(token.notBefore, Date.UTC(2026, 0, 31, 23))
  assert.equal(token.expiresOn, Date.UTC(2026, 2, 1, 0, 0, 0, 500))
})

test('spend limits are those of a token, and null is none', () => {
  const spend_limits = { rules: [{ id: 'a', limit: 0.1, limitType: 'cost', window: 'day' }] }
  const token = read({ ...good, spend_limits }) as TokenBody
  assert.deepEqual(
    token.spendLimits?.rules.map(({ id, limit }) => [id, limit]),
    [['a', 0.1]],
  )
  assert.deepEqual(read({ ...good, spend_limits: null }), read(good))
  const each = { rules: [{ ...spend_limits.rules[0], model: { mode: 'partition' } }] }
  assert.deepEqual(pointers({ ...good, spend_limits: each }), ['/spend_limits/rules/0/model/mode'])
  assert.deepEqual(pointers({ ...good, spend_limit: null }), ['/spend_limit'])
})

test('gateways and models are patterns, and null is no limit', () => {
  const limits = {
    gateways: ['default', 'team-*'],
    models: ['openai/gpt-4o*', 'dynamic/*', '@local/llama3.2:1b'],
  }
  const token = read({ ...good, ...limits }) as TokenBody
  assert.deepEqual([token.gateways, token.models], [limits.gateways, limits.models])
  assert.deepEqual(read({ ...good, gateways: null, models: null }), read(good))
  for (const gateways of [[], ['A'], [''], ['a b'], [7], 'default', ['x'.repeat(65)], Array(51).fill('a')])
    assert.match(pointers({ ...good, gateways })[0]!, /^\/gateways(\/0)?$/)
  for (const models of [[], [''], ['a b'], ['\u00e9'], ['a\n'], [null], {}, ['x'.repeat(257)]])
    assert.match(pointers({ ...good, models })[0]!, /^\/models(\/0)?$/)
})

test('all faults are reported at once, with their pointers', () => {
  const body = {
    name: '',
    surprise: 1,
    policies: [
      policy,
      { effect: 'maybe', permission_groups: [{ id: 'x' }, {}, 7], resources: { 'svc.api.account.*': '*' } },
      'all',
    ],
    condition: { request_ip: { in: ['300.1.2.3'], not_in: 'nowhere' } },
    expires_on: 'tomorrow',
    not_before: 5,
  }
  assert.deepEqual(pointers(body).sort(), [
    '/condition/request_ip/in/0',
    '/condition/request_ip/not_in',
    '/expires_on',
    '/name',
    '/not_before',
    '/policies/1/effect',
    '/policies/1/permission_groups/0',
    '/policies/1/permission_groups/1',
    '/policies/1/permission_groups/2',
    '/policies/1/resources',
    '/policies/2',
    '/surprise',
  ])
})

test('missing members are reported by name', () => {
  assert.deepEqual(read({}), [
    { code: 10002, message: 'name is required', pointer: '/name' },
    { code: 10002, message: 'policies is required', pointer: '/policies' },
  ])
  assert.deepEqual(read([]), [{ code: 10001, message: 'The body must be an object', pointer: '' }])
})

test('a group can be named, and a name that does not fit its id is refused', () => {
  const withGroup = (some: object) => ({ ...good, policies: [{ ...policy, permission_groups: [some] }] })
  assert.deepEqual((read(withGroup({ name: group.name })) as TokenBody).policies[0]!.permissionGroups, [
    group.id,
  ])
  assert.deepEqual(
    (read(withGroup(group && { id: group.id, name: group.name })) as TokenBody).policies.length,
    1,
  )
  assert.deepEqual(pointers(withGroup({ id: group.id, name: permissionGroups[1].name })), [
    '/policies/0/permission_groups/0',
  ])
})

test('a token is for its own account only', () => {
  for (const resources of [
    {},
    { [`svc.api.account.${'1'.repeat(32)}`]: '*' },
    { [`svc.api.account.${account}`]: { zone: '*' } },
    { [`svc.api.account.${account}`]: '*', [`svc.api.account.${'1'.repeat(32)}`]: '*' },
    [],
    null,
  ])
    assert.deepEqual(pointers({ ...good, policies: [{ ...policy, resources }] }), ['/policies/0/resources'])
})

test('a token must live: it expires in the future, and after it begins', () => {
  assert.deepEqual(pointers({ ...good, expires_on: '2026-01-01T00:00:00Z' }), ['/expires_on'])
  const times = { not_before: '2027-01-01T00:00:00Z', expires_on: '2027-01-01T00:00:00Z' }
  assert.deepEqual(pointers({ ...good, ...times }), ['/expires_on'])
})

test('moments that no calendar has are refused', () => {
  for (const expires_on of [
    '2027-13-01T00:00:00Z',
    '2027-01-01',
    '2027-01-01T00:00:00',
    '2027-01-01T25:00:00Z',
    '',
    0,
    {},
  ])
    assert.deepEqual(pointers({ ...good, expires_on }), ['/expires_on'], String(expires_on))
})

test('names are lines of text: no control characters, no turned text, no halves of characters', () => {
  for (const name of ['a\nb', 'a\u0000', '\ud800', 'a\u202eb', '   ', 'x'.repeat(121), 7, null])
    assert.deepEqual(pointers({ ...good, name }), ['/name'], JSON.stringify(name))
})

test('an empty list of allowed addresses, which would mean all, is refused', () => {
  assert.deepEqual(pointers({ ...good, condition: { request_ip: { in: [] } } }), ['/condition/request_ip/in'])
})

test('names that every object inherits are unknown like any other', () => {
  const body = JSON.parse(
    `{"name":"x","policies":[${JSON.stringify(policy)}],"__proto__":{"status":"active"},"constructor":1}`,
  )
  assert.deepEqual(pointers(body), ['/__proto__', '/constructor'])
})

test('a record that was read may be written back, under its own id', () => {
  const got = {
    ...good,
    id,
    status: 'disabled',
    issued_on: '2026-01-01T00:00:00Z',
    modified_on: '2026-01-01T00:00:00Z',
  }
  assert.equal((readToken(got, account, id) as TokenBody).status, 'disabled')
  assert.equal((readToken(good, account, id) as TokenBody).status, null)
  assert.deepEqual(
    (readToken({ ...got, id: 'other', status: 'expired' }, account, id) as Fault[]).map(
      fault => fault.pointer,
    ),
    ['/id', '/status'],
  )
})

test('a new token has no state and no id of its own choosing', () => {
  assert.deepEqual(pointers({ ...good, status: 'active', id, value: 'svct_mine' }).sort(), [
    '/id',
    '/status',
    '/value',
  ])
})

test('no more than 100 faults are reported, and long names are cut', () => {
  const strangers = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`${'x'.repeat(1_000)}${i}`, i]))
  const faults = read({ ...good, ...strangers }) as Fault[]
  assert.equal(faults.length, 100)
  assert.ok(faults.every(({ message }) => message.length < 200))
})

test('whatever the body is, it is read or refused, and what is read keeps the rules', () => {
  const junk = fc.jsonValue({ maxDepth: 3 })
  const body = fc.oneof(
    junk,
    fc.record(
      {
        name: fc.oneof(fc.string({ unit: anyCharacter }), junk),
        policies: fc.oneof(fc.array(fc.oneof(fc.constant(policy), junk)), junk),
        condition: fc.oneof(
          junk,
          fc.record({ request_ip: fc.record({ in: fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string())) }) }),
        ),
        expires_on: fc.oneof(
          junk,
          fc.date({ noInvalidDate: true }).map(date => date.toISOString()),
        ),
      },
      { requiredKeys: ['name', 'policies'] },
    ),
  )
  fc.assert(
    fc.property(body, some => {
      const result = read(some)
      if (Array.isArray(result)) return result.length > 0
      const { name, policies, expiresOn } = result as TokenBody
      return (
        name.trim() !== '' &&
        name.isWellFormed() &&
        policies.length > 0 &&
        (expiresOn === null || expiresOn > now)
      )
    }),
    { numRuns: 2_000 },
  )
})
