import { deepEqual, equal, rejects } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { LimitedTokens } from '../../../src/admin/budget-alerts/limited-tokens.ts'
import type { Change, Store } from '../../../src/store/contract/store.ts'
import type { SpendRule } from '../../../src/store/records/budget-rule.ts'
import type { Token } from '../../../src/store/records/records.ts'
import { openStore } from '../../../src/store/open.ts'
import { account, tokenWith } from '../../tokens/token-with.ts'

const day: SpendRule = {
  ...{ id: 'day', isEnabled: true, unit: 'cost', limit: 10, window: 'day', technique: 'fixed' },
  whenUnreachable: 'closed',
}
const limitedBy = (...rules: readonly SpendRule[]) => ({ spendLimits: { isEnabled: true, rules } })

/** A store that counts how tokens are read, and fails to read them while `fails` says so. */
async function start(t: TestContext) {
  const store = await openStore('sqlite::memory:', { commandTimeout: 250, hasLogThread: false })
  t.after(() => store.close())
  const counts = { pages: 0, records: 0 }
  const faults = { fails: false }
  async function* walk(account: string) {
    for await (const page of store.tokens.walk(account)) {
      counts.pages++
      if (faults.fails) throw new Error('unreachable')
      yield page
    }
  }
  const get = (account: string, id: string) => {
    counts.records++
    if (faults.fails) throw new Error('unreachable')
    return store.tokens.get(account, id)
  }
  const tokens = new LimitedTokens({ changes: store.changes, tokens: { walk, get } })
  t.after(() => tokens.close())
  const ids = async (of = account) => (await tokens.of(of)).map(({ id }) => id)
  const insert = async (members: Partial<Token> = {}) => {
    const { token } = tokenWith(members)
    await store.tokens.insert(token)
    return token
  }
  return { store, counts, faults, tokens, ids, insert }
}

/** Makes a change, and waits until it was reported. */
async function reported(store: Store, id: string, change: () => Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const unfollow = store.changes.follow((change: Change) => {
    if ('id' in change && change.id === id) resolve()
  })
  await change()
  await promise
  unfollow()
}

test('tokens with budgets are read once, and again one by one as they change', async t => {
  const { store, counts, tokens, ids, insert } = await start(t)
  for (let i = 0; i < 1_500; i++) await insert({ issuedOn: i })
  const first = await insert({ issuedOn: 10_000, ...limitedBy(day) })
  await insert({ issuedOn: 10_001, ...limitedBy({ ...day, isEnabled: false }) })
  await insert({ issuedOn: 10_002, ...limitedBy({ ...day, window: 60 }) })
  const second = await insert({ issuedOn: 10_003, ...limitedBy(day) })
  deepEqual(await ids(), [first.id, second.id])
  const { pages } = counts
  for (let look = 0; look < 100; look++) deepEqual(await ids(), [first.id, second.id])
  const third = tokenWith({ issuedOn: 10_004, ...limitedBy(day) }).token
  await reported(store, third.id, () => store.tokens.insert(third))
  const other = tokenWith().token
  await reported(store, other.id, () => store.tokens.insert(other))
  deepEqual(await ids(), [first.id, second.id, third.id])
  const { version } = (await store.tokens.get(account, first.id))!
  const raised = { ...first, ...limitedBy({ ...day, limit: 20 }) }
  await reported(store, first.id, () => store.tokens.replace(raised, version))
  await reported(store, second.id, () => store.tokens.remove(account, second.id))
  deepEqual(await ids(), [first.id, third.id])
  equal((await tokens.of(account))[0]!.spendLimits!.rules[0]!.limit, 20)
  deepEqual(counts, { pages, records: 4 })
})

test('a token that changes while all are read is read again', async t => {
  const { store, ids, insert } = await start(t)
  const { id } = await insert(limitedBy(day))
  const reading = ids()
  await reported(store, id, () => store.tokens.remove(account, id))
  await reading
  deepEqual(await ids(), [])
})

test('a read that fails is made again', async t => {
  const { store, faults, ids, insert } = await start(t)
  const { id } = await insert(limitedBy(day))
  faults.fails = true
  await rejects(ids())
  faults.fails = false
  deepEqual(await ids(), [id])
  const next = tokenWith({ issuedOn: 1, ...limitedBy(day) }).token
  await reported(store, next.id, () => store.tokens.insert(next))
  faults.fails = true
  await rejects(ids())
  faults.fails = false
  deepEqual(await ids(), [id, next.id])
})

test('of many changes all are read again, and so is an account after a while without alerts', async t => {
  const { store, counts, tokens, ids, insert } = await start(t)
  await insert(limitedBy(day))
  await ids()
  const { pages } = counts
  const many = Array.from({ length: 101 }, (_, i) => tokenWith({ issuedOn: i, ...limitedBy(day) }).token)
  for (const token of many.slice(1)) await store.tokens.insert(token)
  await reported(store, many[0]!.id, () => store.tokens.insert(many[0]!))
  equal((await ids()).length, 102)
  deepEqual(counts, { pages: 2 * pages, records: 0 })
  tokens.retain(new Set([account]))
  await ids()
  equal(counts.pages, 2 * pages)
  tokens.retain(new Set())
  await ids()
  equal(counts.pages, 3 * pages)
})
