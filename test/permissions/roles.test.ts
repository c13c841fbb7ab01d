import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'
import { permissions } from '../../src/permissions/permissions.ts'
import { type Permission, permits } from '../../src/permissions/permit.ts'
import {
  areSuper,
  groupsOfRoles,
  groupsOfScopes,
  permissionsBeyond,
  roleNamesOf,
  roleOf,
  roles,
  scopesBeyond,
} from '../../src/permissions/roles.ts'
import { oauthScopes } from '../../src/permissions/scopes.ts'
import { tokenWith } from '../tokens/token-with.ts'

const account = '1'.repeat(32)
const named = (name: string) => roles.find(role => role.name === name)!
const all = permissionGroups.map(({ name }) => name)

test('roles are what they always were, since members are kept with their ids', () => {
  assert.deepEqual(
    roles.map(({ id, name }) => `${id} ${name}`),
    [
      '027624bc3ced91111736752f9cb2fea5 Super Administrator - All Privileges',
      'cfe51ff0022afc6d02c5291348bedb94 Administrator',
      'd6490098550247d92a2c46179fbb5fd6 OAuth Client Write',
      '2df4e93eae8ce611a2f78624b7528737 AI Gateway Admin',
      '4e281941e0bcb4cda023d46f7aad55ee Administrator Read Only',
    ],
  )
  for (const role of roles) assert.equal(roleOf(role.id), role)
  assert.equal(roleOf('0'.repeat(32)), null)
})

const allowed: Readonly<Record<string, readonly Permission[]>> = {
  'Super Administrator - All Privileges': all,
  Administrator: all.filter(name => name !== 'Members Write' && name !== 'Account Settings Write'),
  'OAuth Client Write': ['OAuth Clients Read', 'OAuth Clients Write'],
  'AI Gateway Admin': ['AI Gateway Read', 'AI Gateway Edit', 'AI Gateway Run'],
  'Administrator Read Only': [
    'OAuth Clients Read',
    'AI Gateway Read',
    'API Tokens Read',
    'Custom Errors Read',
    'Access Rules Read',
    'Origins Read',
    'Metrics Read',
    'Members Read',
    'Zones Read',
    'Analytics Read',
    'Audit Logs Read',
  ],
}

const permittedBy = (groups: Iterable<string>) => {
  const policy = { id: '', effect: 'allow', permissionGroups: [...groups], accounts: [account] } as const
  const { token } = tokenWith({ policies: [policy] })
  return all.filter(name => permits(token, name, account))
}

for (const { id, name, permissions } of roles) {
  test(`${name} allows what is said of it and nothing else`, () => {
    assert.deepEqual([...permissions].sort(), [...allowed[name]!].sort())
    assert.deepEqual(permittedBy(groupsOfRoles([id])).sort(), [...allowed[name]!].sort())
  })
}

test('names of roles come once each, and unknown ids have none', () => {
  const [one, other] = [named('OAuth Client Write'), named('AI Gateway Admin')]
  assert.deepEqual(roleNamesOf([one.id, 'none', other.id, one.id]), [one.name, other.name])
})

test('only the super administrator is one, among other roles too', () => {
  for (const { id, name } of roles) assert.equal(areSuper([id]), name.startsWith('Super'))
  assert.ok(areSuper(roles.map(({ id }) => id)))
  assert.ok(!areSuper([]))
})

test('roles stand for what each of them stands for; what is no role stands for nothing', () => {
  const both = groupsOfRoles([named('OAuth Client Write').id, named('AI Gateway Admin').id, 'none'])
  assert.deepEqual(
    permittedBy(both).sort(),
    [...allowed['OAuth Client Write']!, ...allowed['AI Gateway Admin']!].sort(),
  )
  assert.deepEqual([...groupsOfRoles(['none', ''])], [])
})

test('a caller without a permission of a role is told which one is missing', () => {
  const may = (name: Permission) => named('AI Gateway Admin').permissions.includes(name)
  assert.deepEqual(permissionsBeyond([named('AI Gateway Admin').id], may), [])
  assert.deepEqual(permissionsBeyond([named('OAuth Client Write').id], may), [
    'OAuth Clients Read',
    'OAuth Clients Write',
  ])
})

test('only a super administrator can grant the super administrator role', () => {
  for (const { id, permissions } of roles) {
    const beyond = permissionsBeyond([named('Super Administrator - All Privileges').id], name =>
      permissions.includes(name),
    )
    assert.equal(beyond.length === 0, areSuper([id]))
  }
})

test('a scope is within roles exactly where its permission is', () => {
  for (const { id, permissions: names } of roles)
    for (const { scope, name } of permissions)
      assert.deepEqual(scopesBeyond([id], [scope]), names.includes(name) ? [] : [scope])
})

test('identity is within any roles, and a scope that does not exist within none', () => {
  const identity = oauthScopes.filter(({ isIdentity }) => isIdentity).map(({ id }) => id)
  assert.deepEqual(scopesBeyond([], identity), [])
  assert.deepEqual(
    scopesBeyond(
      roles.map(({ id }) => id),
      ['openid', 'everything.write'],
    ),
    ['everything.write'],
  )
})

test('scopes stand for what tokens with the permissions of the same names allow', () => {
  const rows = fc.uniqueArray(fc.constantFrom(...permissions))
  fc.assert(
    fc.property(rows, rows => {
      assert.deepEqual(
        permittedBy(groupsOfScopes(rows.map(({ scope }) => scope))),
        permittedBy(rows.map(({ id }) => id)),
      )
    }),
  )
  assert.deepEqual([...groupsOfScopes(['openid', 'user.read', 'nothing.read'])], [])
  // It has no reading sibling.
  const settings = permissions.find(({ name }) => name === 'Account Settings Write')!
  assert.deepEqual([...groupsOfScopes([settings.scope])], [settings.id])
})

test('an access token allows what both its scopes and the roles of the user allow, and write includes read', () => {
  const scopes = fc.uniqueArray(fc.constantFrom(...permissions.map(({ scope }) => scope)))
  const ids = fc.uniqueArray(fc.constantFrom(...roles.map(({ id }) => id)))
  fc.assert(
    fc.property(scopes, ids, (scopes, ids) => {
      const [asked, had] = [groupsOfScopes(scopes), groupsOfRoles(ids)]
      const permitted = new Set(permittedBy(had))
      assert.deepEqual(
        permittedBy([...asked].filter(group => had.has(group))),
        permittedBy(asked).filter(name => permitted.has(name)),
      )
    }),
  )
})
