import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Policy } from '../../src/store/records/records.ts'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'
import { type Permission, permits, reaches } from '../../src/permissions/permit.ts'
import { tokenWith } from '../tokens/token-with.ts'

const mine = '1'.repeat(32)
const other = '2'.repeat(32)

const idOf = (name: Permission) => permissionGroups.find(group => group.name === name)!.id

function policy(effect: Policy['effect'], names: readonly Permission[], accounts = [mine]): Policy {
  return { id: '0'.repeat(32), effect, permissionGroups: names.map(idOf), accounts }
}

const holder = (...policies: Policy[]) => tokenWith({ policies }).token

test('a token without policies allows nothing', () => {
  for (const { name } of permissionGroups) assert.equal(permits(holder(), name, mine), false)
})

test('a token allows what a policy names, for the accounts it names, and nothing else', () => {
  const token = holder(policy('allow', ['AI Gateway Run']))
  assert.equal(permits(token, 'AI Gateway Run', mine), true)
  assert.equal(permits(token, 'AI Gateway Run', other), false)
  assert.equal(permits(token, 'AI Gateway Read', mine), false)
})

test('* means every account', () => {
  assert.equal(permits(holder(policy('allow', ['AI Gateway Run'], ['*'])), 'AI Gateway Run', other), true)
})

test('write includes read, but not the reverse', () => {
  for (const [write, read] of [
    ['AI Gateway Edit', 'AI Gateway Read'],
    ['API Tokens Write', 'API Tokens Read'],
    ['OAuth Clients Write', 'OAuth Clients Read'],
    ['Custom Errors Write', 'Custom Errors Read'],
    ['Access Rules Write', 'Access Rules Read'],
  ] as const) {
    assert.equal(permits(holder(policy('allow', [write])), read, mine), true)
    assert.equal(permits(holder(policy('allow', [read])), write, mine), false)
  }
  assert.equal(permits(holder(policy('allow', ['AI Gateway Edit'])), 'AI Gateway Run', mine), false)
})

test('a denial always wins, before or after an allowance', () => {
  const [allow, deny] = [policy('allow', ['AI Gateway Run'], ['*']), policy('deny', ['AI Gateway Run'])]
  for (const token of [holder(allow, deny), holder(deny, allow)]) {
    assert.equal(permits(token, 'AI Gateway Run', mine), false)
    assert.equal(permits(token, 'AI Gateway Run', other), true)
  }
})

test('denying write denies read as well, denying read leaves write', () => {
  const all = policy('allow', ['API Tokens Write'])
  assert.equal(permits(holder(all, policy('deny', ['API Tokens Write'])), 'API Tokens Read', mine), false)
  assert.equal(permits(holder(all, policy('deny', ['API Tokens Read'])), 'API Tokens Write', mine), true)
})

test('ids are 32 hex digits, and with their names unique', () => {
  assert.ok(permissionGroups.every(({ id }) => /^[0-9a-f]{32}$/.test(id)))
  assert.equal(
    new Set(permissionGroups.flatMap(({ id, name }) => [id, name])).size,
    2 * permissionGroups.length,
  )
})

test('a token reaches its own account, and those in which a policy allows it something', () => {
  const reach = (...policies: Policy[]) => [mine, other].map(account => reaches(tokenOf(policies), account))
  const tokenOf = (policies: Policy[]) => ({ ...holder(...policies), account: mine })
  assert.deepEqual(reach(), [true, false])
  assert.deepEqual(reach(policy('allow', ['AI Gateway Run'], [other])), [true, true])
  assert.deepEqual(reach(policy('allow', ['AI Gateway Run'], ['*'])), [true, true])
  assert.deepEqual(reach(policy('deny', ['AI Gateway Run'], ['*'])), [true, false])
  assert.deepEqual(reach(policy('allow', ['AI Gateway Run'], ['3'.repeat(32)])), [true, false])
})
