import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GatewayDirectory } from '../../src/ai/gateway-directory.ts'
import { openStore } from '../../src/store/open.ts'
import type { Gateway } from '../../src/store/records/records.ts'
import { type Store, StoreUnreachable } from '../../src/store/contract/store.ts'
import { type PolicySet, policySetId } from '../../src/store/records/policy.ts'
import { block, policy } from '../budgets/policies/specimens.ts'
import { auditEntry } from '../store/contract-specimens.ts'
import { ManualClock } from '../help/clock.ts'
import { SteeredStore } from '../tokens/steered-store.ts'
import { account } from '../tokens/token-with.ts'

const grace = 600_000

const gateway: Gateway = {
  account,
  id: 'default',
  authentication: true,
  collectLogs: true,
  logManagement: 100_000,
  logManagementStrategy: 'DELETE_OLDEST',
  createdAt: 0,
  modifiedAt: 0,
}

function setUp() {
  const clock = new ManualClock()
  const steered = new SteeredStore(clock)
  const directory = new GatewayDirectory({ store: steered.store, grace, clock })
  /** Keeps a gateway, and tells. */
  const keep = (kept: Gateway) => {
    steered.byName.set(`${kept.account}/${kept.id}`, kept)
    steered.changes.tell({ kind: 'gateway', account: kept.account, id: kept.id })
  }
  keep(gateway)
  return { clock, steered, directory, keep }
}

test('a gateway is looked up once, and found in memory from then on', async () => {
  const { directory, steered } = setUp()
  assert.deepEqual(await directory.find(account, 'default'), gateway)
  assert.deepEqual(directory.find(account, 'default'), gateway)
  assert.equal(steered.asked, 1)
})

test('turning authentication off takes effect as soon as the change is reported', async () => {
  const { directory, keep } = setUp()
  await directory.find(account, 'default')
  keep({ ...gateway, authentication: false })
  assert.equal(((await directory.find(account, 'default')) as Gateway).authentication, false)
})

test('a gateway that was missing is found as soon as it is there', async () => {
  const { directory, keep } = setUp()
  assert.equal(await directory.find(account, 'second'), null)
  assert.equal(directory.find(account, 'second'), null)
  keep({ ...gateway, id: 'second' })
  assert.equal(((await directory.find(account, 'second')) as Gateway).id, 'second')
})

test('the gateway of one account is not that of another', async () => {
  const { directory } = setUp()
  assert.equal(await directory.find('f'.repeat(32), 'default'), null)
})

test('invalid names of gateways and accounts are not looked up', () => {
  const { directory, steered } = setUp()
  for (const id of ['', 'a'.repeat(65), 'Default', 'a/b', 'a b', '..', 'ü'])
    assert.equal(directory.find(account, id), null)
  for (const wrong of ['', 'a', account.toUpperCase(), `${account}/x`])
    assert.equal(directory.find(wrong, 'default'), null)
  assert.equal(steered.asked, 0)
})

test('while the store is unreachable a known gateway stays usable for the grace, and an unknown one is refused', async () => {
  const { directory, steered, clock } = setUp()
  await directory.find(account, 'default')
  steered.isUnreachable = true
  steered.changes.fallSilent()
  assert.equal(await directory.find(account, 'second'), 'store_unreachable')
  clock.advance(grace)
  assert.deepEqual(await directory.find(account, 'default'), gateway)
  clock.advance(1_000)
  assert.equal(await directory.find(account, 'default'), 'store_unreachable')
})

test('policies come with their gateway, as soon as a commit is reported', async () => {
  const { directory, steered } = setUp()
  await directory.find(account, 'default')
  const keep = (commits: PolicySet['commits']) => {
    const set = { account: `${account}/default`, id: policySetId }
    steered.policies.set(set.account, { ...set, commits, draft: null, createdAt: 0, modifiedAt: 0 })
    steered.changes.tell({ kind: 'policy_set', ...set })
  }
  const policies = [policy('a', block)]
  keep([{ id: 'c1', policies, createdAt: 0 }])
  assert.deepEqual(await directory.find(account, 'default'), { ...gateway, policies })
  assert.deepEqual(directory.find(account, 'default'), { ...gateway, policies })
  keep([{ id: 'c2', policies: [], createdAt: 0 }])
  assert.deepEqual(await directory.find(account, 'default'), gateway)
})

test('a gateway whose policies cannot be read is not known', async () => {
  const { directory, steered, clock } = setUp()
  const { policySets } = steered.store
  const get = () => Promise.reject(new StoreUnreachable())
  const store = { ...steered.store, policySets: { ...policySets, get } } as Store
  const unsure = new GatewayDirectory({ store, grace, clock })
  assert.equal(await unsure.find(account, 'default'), 'store_unreachable')
  assert.deepEqual(await directory.find(account, 'default'), gateway)
})

test('a bug of the store is not taken for an absence', async () => {
  const { directory, steered } = setUp()
  steered.look = () => Promise.reject(new TypeError('a bug'))
  await assert.rejects(async () => directory.find(account, 'default'), TypeError)
})

test('whatever is asked for, the answer comes at once and is nothing', () => {
  const { directory } = setUp()
  fc.assert(fc.property(fc.string(), fc.string(), (some, id) => directory.find(some, id) === null))
})

test('the only account is known until there is another', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  t.after(() => store.close())
  const directory = new GatewayDirectory({ store, grace })
  assert.equal(await directory.onlyAccount(), null)
  await store.accounts.insert({ id: account, name: 'one', createdAt: 0 }, beginningOf(account))
  assert.equal(await directory.onlyAccount(), account)
  assert.equal(directory.onlyAccount(), account)
  const other = 'f'.repeat(32)
  await store.accounts.insert({ id: other, name: 'two', createdAt: 1 }, beginningOf(other))
  assert.equal(await directory.onlyAccount(), null)
})

function beginningOf(account: string) {
  const audit = auditEntry({ account, action: 'create' })
  return { gateway: { ...gateway, account }, audit }
}
