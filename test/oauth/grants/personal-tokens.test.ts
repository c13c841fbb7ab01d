// What opens by a token that a member made for themselves: as long as they are a member, and no more than they may.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { AiMetrics } from '../../../src/metrics/counters/ai-metrics.ts'
import { PersonalTokens, runGroup } from '../../../src/oauth/grants/personal-tokens.ts'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import { permits } from '../../../src/permissions/permit.ts'
import { roles } from '../../../src/permissions/roles.ts'
import { openStore } from '../../../src/store/open.ts'
import { everybody, type Member } from '../../../src/store/records/people.ts'
import type { Token } from '../../../src/store/records/records.ts'
import { newTokenKey } from '../../../src/tokens/token-tags.ts'
import { TokenVerifier } from '../../../src/tokens/verify.ts'
import { gatewayOf } from '../../admin/api.ts'
import { userWith } from '../../people/user-with.ts'
import { account, tokenWith } from '../../tokens/token-with.ts'
import { until } from '../../help/until.ts'

const roleOf = (name: string) => roles.find(role => role.name.startsWith(name))!.id
const [runs, reads] = [roleOf('AI Gateway Admin'), roleOf('Administrator Read Only')]
const all = permissionGroups.map(({ id }) => id)

async function open(t: TestContext, { policies }: Partial<Pick<Token, 'policies'>> = {}) {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  t.after(() => store.close())
  const owner = tokenWith()
  await store.bootstrap({
    account: { id: account, name: 'first', createdAt: 0 },
    gateway: gatewayOf('default'),
    token: owner.token,
    tokenKey: newTokenKey(0),
  })
  const user = userWith({})
  await store.users.insert(user)
  const member: Member = {
    ...{ account, id: randomBytes(16).toString('hex'), user: user.id, status: 'accepted' as const },
    ...{ roles: [runs], isSuper: false, createdAt: 0, modifiedAt: 0 },
  }
  await store.members.insert(member)
  const made = tokenWith({
    policies: policies ?? [{ id: '0', effect: 'allow', permissionGroups: [runGroup], accounts: [account] }],
    person: { user: user.id, email: user.email, member: member.id },
  })
  await store.tokens.insert(made.token)
  const parts = { store, grace: 600_000, metrics: new AiMetrics() }
  const verifier = new TokenVerifier({ ...parts, people: new PersonalTokens(store) })
  const change = async (changes: Partial<Member>) => {
    const found = await store.members.get(account, member.id)
    await store.members.replace({ ...found!.record, ...changes }, found!.version)
  }
  const opens = async () => {
    const token = await verifier.verify(made.value, null, 'ai')
    return typeof token === 'string' ? token : permits(token, 'AI Gateway Run', account)
  }
  return { store, user, member, made, verifier, parts, change, opens }
}

test('a personal token runs models as its owner, and opens nothing else', async t => {
  const { verifier, made, opens } = await open(t, {
    policies: [{ id: '0', effect: 'allow', permissionGroups: all, accounts: ['*'] }],
  })
  assert.equal(await opens(), true)
  const token = (await verifier.verify(made.value, null, 'ai')) as Token
  for (const { name } of permissionGroups)
    assert.equal(permits(token, name, account), name === 'AI Gateway Run', name)
  assert.equal(permits(token, 'AI Gateway Run', 'b'.repeat(32)), false, 'in no other account')
  assert.equal(await verifier.verify(made.value, null, 'management'), 'other_api')
})

test('a personal token allows nothing that the roles of its owner do not include', async t => {
  const { opens, change } = await open(t)
  assert.equal(await opens(), true)
  await change({ roles: [reads] })
  await until(async () => (await opens()) === false)
  await change({ roles: [reads, runs] })
  await until(async () => (await opens()) === true)
})

test('a personal token ends with the membership, and a new membership does not restore it', async t => {
  const { store, opens, member } = await open(t)
  assert.equal(await opens(), true)
  const { version } = (await store.members.get(account, member.id))!
  await store.members.remove(account, member.id, undefined, version)
  await until(async () => (await opens()) === 'unknown')
  await store.members.insert({ ...member, id: randomBytes(16).toString('hex') })
  await until(async () => (await opens()) === 'unknown')
})

test('an account that requires two steps is closed to the token of a member without', async t => {
  const { store, opens } = await open(t)
  assert.equal(await opens(), true)
  await store.accounts.update(account, { enforceTwoFactor: true })
  await until(async () => (await opens()) === false)
})

test('without a source of members, no personal token is accepted', async t => {
  const { parts, made, store, user } = await open(t)
  assert.equal(await new TokenVerifier(parts).verify(made.value, null, 'ai'), 'unknown')
  const kept = (await store.users.get(everybody, user.id))!
  await store.users.remove(everybody, user.id, undefined, kept.version)
  const verifier = new TokenVerifier({ ...parts, people: new PersonalTokens(store) })
  assert.equal(await verifier.verify(made.value, null, 'ai'), 'unknown')
})

test('a personal token ends with the membership, the user or the account, and with an invitation that is not accepted', async t => {
  const { store, user, made, member, change } = await open(t)
  const people = new PersonalTokens(store)
  const token = made.token as Parameters<typeof people.reach>[0]
  assert.ok(await people.reach(token))
  assert.equal(await people.reach({ ...token, person: { ...token.person, member: 'e'.repeat(32) } }), null)
  await change({ status: 'pending' })
  assert.equal(await people.reach(token), null)
  const elsewhere = 'e'.repeat(32)
  await store.members.insert({ ...member, account: elsewhere, id: 'd'.repeat(32) })
  const of = { account: elsewhere, person: { ...token.person, member: 'd'.repeat(32) } }
  assert.equal(await people.reach({ ...token, ...of }), null, 'there is no such account')
  const told = (id: string) => ({ kind: 'member', account, id }) as const
  for (const [id, isConcerned] of [
    [member.id, true],
    [user.id, true],
    [account, true],
    [elsewhere, false],
  ] as const)
    assert.equal(people.concerns(told(id), token), isConcerned)
  assert.equal(people.concerns(told(account), tokenWith().token), false)
})
