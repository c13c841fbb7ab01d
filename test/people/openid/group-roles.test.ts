import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { pino } from 'pino'
import type { GroupRole } from '../../../src/config/model/config.ts'
import { GroupRoles, groupsIn, withGroupRoles } from '../../../src/people/openid/group-roles.ts'
import { areSuper, roles } from '../../../src/permissions/roles.ts'
import type { Member, User } from '../../../src/store/records/people.ts'
import { member, oauthGrant } from '../../store/contract-specimens.ts'
import { tokenWith } from '../../tokens/token-with.ts'
import { onStores, type Village, visit } from '../on-stores.ts'

function idOf(name: string): string {
  return roles.find(role => role.name === name)!.id
}

const [readOnly, gatewayAdmin] = ['Administrator Read Only', 'AI Gateway Admin'].map(idOf) as [string, string]
const superAdmin = roles[0]!.id

function groupRolesOf({ store }: Village, mapping: readonly GroupRole[]) {
  const lines: string[] = []
  const log = pino({}, { write: line => void lines.push(line) })
  const own = new GroupRoles({ store, mapping, log })
  return {
    lines,
    apply: (user: User, ...groups: string[]) => own.apply(user, groups, { now: Date.now(), ...visit }),
  }
}

async function memberOf(
  { store }: Village,
  user: User,
  { id }: { readonly id: string },
): Promise<Member | null> {
  return (await store.members.find(id, user.id))?.record ?? null
}

onStores(
  'a group makes a member, another one adds a role, and without any the membership ends',
  async village => {
    const { store } = village
    const account = await village.found()
    const user = await village.settle()
    const { apply } = groupRolesOf(village, [
      { group: 'watch', role: 'Administrator Read Only', account: account.id },
      { group: 'run', role: 'AI Gateway Admin', account: account.id },
    ])
    await apply(user, 'others')
    assert.equal(await memberOf(village, user, account), null)
    const old = oauthGrant({ account: account.id, user: user.id })
    await store.oauthGrants.insert(old)
    await apply(user, 'watch')
    assert.equal(await store.oauthGrants.get(account.id, old.id), null, 'what an earlier membership left')
    const { status, roles: first, isSuper } = (await memberOf(village, user, account))!
    assert.deepEqual([status, first, isSuper], ['accepted', [readOnly], false])
    await apply(user, 'watch', 'run')
    await apply(user, 'run', 'watch')
    assert.deepEqual((await memberOf(village, user, account))!.roles, [readOnly, gatewayAdmin])
    const grant = oauthGrant({ account: account.id, user: user.id })
    await store.oauthGrants.insert(grant)
    const { id: joined } = (await memberOf(village, user, account))!
    const [own, another] = [joined, '0'.repeat(32)].map(
      id =>
        tokenWith({ account: account.id, person: { user: user.id, email: user.email, member: id } }).token,
    )
    for (const token of [own!, another!]) await store.tokens.insert(token)
    await apply(user)
    assert.equal(await store.tokens.get(account.id, own!.id), null)
    assert.ok(await store.tokens.get(account.id, another!.id))
    assert.equal(await memberOf(village, user, account), null)
    assert.equal(await store.oauthGrants.get(account.id, grant.id), null)
    const told = (await village.told(account)) as readonly (readonly unknown[])[]
    assert.deepEqual(
      told.map(([actor, action, kind, , changed]) => [actor, action, kind, changed]),
      [
        ['gatehouse', 'create', 'member', ['roles']],
        ['gatehouse', 'revoke', 'oauth_grant', []],
        ['gatehouse', 'update', 'member', ['roles']],
        ['gatehouse', 'delete', 'member', ['roles']],
        ['gatehouse', 'revoke', 'oauth_grant', []],
        ['gatehouse', 'delete', 'token', []],
      ],
    )
  },
)

onStores(
  'roles given by hand stay, even one that a group gives too, and the last super administrator',
  async village => {
    const account = await village.found()
    const user = await village.settle()
    const byHand = [superAdmin, gatewayAdmin]
    await village.join(user, account, { roles: byHand, isSuper: true })
    const { apply } = groupRolesOf(village, [
      { group: 'watch', role: 'Administrator Read Only', account: account.id },
      { group: 'run', role: 'AI Gateway Admin', account: account.id },
    ])
    await apply(user, 'watch', 'run')
    const { roles: all, groupRoles } = (await memberOf(village, user, account))!
    assert.deepEqual([all, groupRoles], [[...byHand, readOnly], [readOnly]])
    await apply(user)
    const after = (await memberOf(village, user, account))!
    assert.deepEqual([after.roles, after.groupRoles, after.isSuper], [byHand, [], true])
  },
)

onStores(
  'an invitation waits for its answer, an unknown account is named in the log, and others are left alone',
  async village => {
    const [invited, other] = [await village.found(), await village.found()]
    const user = await village.settle()
    await village.join(user, invited, { status: 'pending', roles: [readOnly] })
    const nowhere = 'f'.repeat(32)
    const { apply, lines } = groupRolesOf(village, [
      { group: 'run', role: 'AI Gateway Admin', account: invited.id },
      { group: 'run', role: 'AI Gateway Admin', account: nowhere },
    ])
    await apply(user, 'run')
    assert.deepEqual((await memberOf(village, user, invited))!.roles, [readOnly])
    assert.equal(await memberOf(village, user, other), null)
    assert.deepEqual(
      lines.map(line => (JSON.parse(line) as { account: string }).account),
      [nowhere],
    )
  },
)

onStores(
  'a mapping that is gone takes away what it gave, and the oldest account is the usual one',
  async village => {
    const account = await village.found({ createdAt: 1 })
    const user = await village.settle()
    await groupRolesOf(village, [{ group: 'run', role: 'AI Gateway Admin', account: null }]).apply(
      user,
      'run',
    )
    const oldest = (await village.store.accounts.oldest())!
    assert.deepEqual((await memberOf(village, user, { id: oldest }))!.roles, [gatewayAdmin])
    await groupRolesOf(village, []).apply(user, 'run')
    assert.equal(await memberOf(village, user, account), null)
  },
)

onStores('of twenty sign-ins at once, all end with the same member', async village => {
  const account = await village.found()
  const user = await village.settle()
  const { apply } = groupRolesOf(village, [{ group: 'run', role: 'AI Gateway Admin', account: account.id }])
  await Promise.all(Array.from({ length: 20 }, () => apply(user, 'run')))
  assert.deepEqual((await memberOf(village, user, account))!.roles, [gatewayAdmin])
})

test('a claim is a list of names or nothing', () => {
  assert.deepEqual(groupsIn({}, 'groups'), [])
  assert.deepEqual(groupsIn({ groups: [] }, 'groups'), [])
  assert.deepEqual(groupsIn({ groups: ['a', 'b'] }, 'groups'), ['a', 'b'])
  assert.deepEqual(groupsIn({}, 'constructor'), [])
  const huge = Array.from({ length: 1_001 }, (_, i) => `g${i}`)
  for (const odd of [
    'a',
    'a b',
    '["a"]',
    null,
    1,
    true,
    {},
    { 0: 'a', length: 1 },
    ['a', 1],
    [['a']],
    [null],
    [''],
  ])
    assert.equal(groupsIn({ groups: odd }, 'groups'), null, JSON.stringify(odd))
  assert.equal(groupsIn({ groups: huge }, 'groups'), null)
  assert.equal(groupsIn({ groups: huge.slice(1) }, 'groups')?.length, 1_000)
  assert.equal(groupsIn({ groups: ['a'.repeat(257)] }, 'groups'), null)
})

test('whatever a claim has, groups are names that it has itself', () => {
  fc.assert(
    fc.property(fc.object({ key: fc.constantFrom('groups', '__proto__', 'x') }), claims => {
      const sent = JSON.parse(JSON.stringify(claims)) as Record<string, unknown>
      for (const name of ['groups', '__proto__', 'toString']) {
        const groups = groupsIn(sent, name)
        if (groups === null) assert.ok(Object.hasOwn(sent, name))
        else
          assert.ok(
            groups.every(group => typeof group === 'string' && (sent[name] as string[]).includes(group)),
          )
      }
    }),
    { numRuns: 300 },
  )
})

test('however groups come and go, roles given by hand are as before', () => {
  const some = fc.subarray(roles.map(({ id }) => id))
  fc.assert(
    fc.property(some, fc.array(some, { maxLength: 6 }), (byHand, signIns) => {
      let current = member({ roles: byHand, isSuper: areSuper(byHand) })
      for (const wanted of signIns) {
        current = withGroupRoles(current, wanted, 1)
        assert.deepEqual(new Set(current.roles), new Set([...byHand, ...wanted]))
        assert.equal(new Set(current.roles).size, current.roles.length)
        assert.equal(current.isSuper, areSuper(current.roles))
      }
      assert.deepEqual(withGroupRoles(current, [], 1).roles, byHand)
    }),
    { numRuns: 300 },
  )
})
