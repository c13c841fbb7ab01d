import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reservedScopes } from '../../src/config/model/scope-config.ts'
import { permissions } from '../../src/permissions/permissions.ts'
import {
  isOptional,
  oauthScopes,
  scopesWith,
  withIncluded,
  withProtocolScopes,
} from '../../src/permissions/scopes.ts'
import type { GrantType } from '../../src/store/records/oauth-client.ts'

const identity = [
  'openid',
  'email',
  'profile',
  'offline_access',
  'user.read',
  'memberships.read',
  'memberships.write',
  'user_access.read',
  'user_access.write',
]

/** Descriptions that are not those of the permissions. */
const ofApps = new Map(
  oauthScopes.flatMap(({ id, description }): [string, string][] => {
    const permission = permissions.find(({ scope }) => scope === id)
    return permission === undefined || permission.description === description ? [] : [[id, description]]
  }),
)

test('scopes are those of identity, and one for each permission by the same name', () => {
  assert.deepEqual(
    oauthScopes.filter(({ isIdentity }) => isIdentity).map(({ id }) => id),
    identity,
  )
  for (const { isIdentity, scopes } of oauthScopes) if (isIdentity) assert.deepEqual(scopes, ['svc.api.user'])
  assert.deepEqual(
    oauthScopes.filter(({ isIdentity }) => !isIdentity).map(({ isIdentity: _, ...scope }) => scope),
    permissions.map(({ id: _, scope: id, ...permission }) => ({
      ...permission,
      id,
      description: ofApps.get(id) ?? permission.description,
    })),
  )
})

test('a scope says less than its permission where an app may do less', () => {
  assert.deepEqual([...ofApps.keys()].sort(), [
    'account_settings.write',
    'ai_gateway.edit',
    'api_tokens.write',
    'members.write',
    'oauth_clients.write',
  ])
  for (const description of ofApps.values()) assert.match(description, /an app cannot/i)
})

test('ids have no colon, and with their names are unique', () => {
  for (const { id } of oauthScopes) assert.match(id, /^[a-z_]+(\.[a-z]+)?$/)
  const marks = oauthScopes.flatMap(({ id, name }) => [id, name])
  assert.equal(new Set(marks).size, marks.length)
})

const both: readonly GrantType[] = ['authorization_code', 'refresh_token']
const codeOnly: readonly GrantType[] = ['authorization_code']

for (const [sent, grantTypes, kept] of [
  [[], both, ['offline_access']],
  [['user.read'], both, ['user.read', 'offline_access']],
  [['offline_access', 'user.read'], both, ['offline_access', 'user.read']],
  [['user.read'], codeOnly, ['user.read']],
  [['user.read', 'offline_access', 'openid'], codeOnly, ['user.read', 'openid']],
  [['openid', 'ai_gateway.run'], codeOnly, ['openid', 'ai_gateway.run']],
  [['offline_access'], codeOnly, []],
] as const) {
  test(`[${sent}] with [${grantTypes}] is kept as [${kept}]`, () => {
    const before = [...sent]
    assert.deepEqual(withProtocolScopes(before, grantTypes), kept)
    assert.deepEqual(before, sent)
  })
}

test('no scope of an operator can be one of ours, now or once', () => {
  for (const { id } of oauthScopes) assert.ok(reservedScopes.includes(id.split('.', 1)[0]!), id)
  assert.deepEqual(reservedScopes, reservedScopes.toSorted())
})

test('scopes of an operator come after ours, open nothing of an account, and are made once', () => {
  const own = [{ id: 'orders.read_all', description: 'See all orders.' }]
  const all = scopesWith(own)
  assert.deepEqual(all.slice(0, -1), oauthScopes)
  assert.deepEqual(all.at(-1), {
    ...{ id: 'orders.read_all', name: 'Orders Read All', category: 'own', description: 'See all orders.' },
    ...{ scopes: ['svc.api.user'], isIdentity: false, isOwn: true },
  })
  assert.equal(scopesWith(own), all)
})

test('user.read includes what OpenID Connect calls email and profile, once', () => {
  assert.deepEqual(withIncluded(['user.read', 'email']), ['user.read', 'email', 'profile'])
  assert.deepEqual(withIncluded(['openid', 'memberships.read']), ['openid', 'memberships.read'])
})

test('what a client registers decides whether people may decline a scope, and what includes it only then', () => {
  const registered = { scopes: ['openid', 'email', 'user.read'], optionalScopes: ['user.read'] }
  for (const [scope, expected] of [
    ['openid', false],
    ['user.read', true],
    ['email', false],
    ['profile', true],
    ['memberships.read', false],
  ] as const)
    assert.equal(isOptional(scope, registered), expected, scope)
})
