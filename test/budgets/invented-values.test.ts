// Callers may invent a value for each call: what they do not spend with it is soon forgotten by both stores.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BudgetHolder } from '../../src/budgets/budget-holder.ts'
import type { LimitedBucket } from '../../src/budgets/charge.ts'
import type { Budgets } from '../../src/store/contract/budgets.ts'
import type { BudgetWindow } from '../../src/store/records/budget.ts'
import { Database } from '../../src/store/sqlite/database/database.ts'
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { ManualClock } from '../help/clock.ts'
import { startRedis } from '../help/redis.ts'
import { openRedis } from '../store/redis/open.ts'
import { temporaryFile } from '../store/sqlite/temporary-file.ts'

const account = 'a'.repeat(32)
const month = 30 * 86_400_000
/** Ms; of a value with which nothing is spent, nothing is remembered for longer. */
const remembered = 616_000

/** Calls with values that nobody used before, every other of which spends nothing, and the rest fit nowhere. */
class Inventor {
  readonly #budgets: Budgets
  readonly #clock: ManualClock
  readonly #until: number
  #count = 0

  constructor(budgets: Budgets, clock: ManualClock) {
    this.#budgets = budgets
    this.#clock = clock
    this.#until = clock.now() + month
  }

  async call(times: number): Promise<void> {
    const log = { warn: () => {}, info: () => {} }
    const holder = new BudgetHolder({ budgets: this.#budgets, clock: this.#clock, log, lookPeriod: null })
    const full = this.#bucket('full', 5)
    const first = await holder.reserve(account, [full], [5])
    if ('buckets' in first) first.settle([5])
    for (let i = 0; i < times; i++) {
      const call = await holder.reserve(account, [this.#bucket(`b${this.#count++}`, 100)], [5])
      assert.ok('buckets' in call)
      call.settle([0])
      const refusal = await holder.reserve(account, [this.#bucket(`b${this.#count++}`, 100), full], [5, 5])
      assert.ok('reason' in refusal)
      this.#clock.advance(500)
    }
    await holder.close()
  }

  #bucket(bucket: string, limit: number): LimitedBucket {
    const window: BudgetWindow =
      this.#count % 4 < 2 || bucket === 'full'
        ? { kind: 'fixed', until: this.#until }
        : { kind: 'sliding', period: month }
    return { bucket, window, limit, whenUnreachable: 'closed' }
  }
}

test('SQLite soon forgets values with which nothing was spent', async t => {
  const file = temporaryFile(t)
  const clock = new ManualClock(Date.now())
  const store = await SqliteStore.open(file, { commandTimeout: 4_000, clock })
  t.after(() => store.close())
  const db = await Database.open(`${file}-credentials`, { synchronous: 'NORMAL', timeout: 100 })
  t.after(() => db.close())
  const rows = () => db.prepare('SELECT count(*) AS count FROM budgets').get()!.count
  const inventor = new Inventor(store.budgets, clock)
  await inventor.call(100)
  assert.equal(rows(), 201)
  clock.advance(remembered)
  for (let i = 0; i < 5; i++) await inventor.call(0)
  assert.equal(rows(), 1)
})

test('Redis soon forgets values with which nothing was spent', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  const before = Number(await server.ask('DBSIZE'))
  await new Inventor(store.budgets, new ManualClock(Date.now())).call(100)
  const keys = (await server.ask('KEYS', '{gatehouse}:budget:*')) as string[]
  assert.equal(keys.length, 201)
  const lives = await Promise.all(keys.map(key => server.ask('PTTL', key)))
  assert.equal(lives.filter(life => Number(life) > remembered).length, 1)
  assert.equal(Number(await server.ask('DBSIZE')), before + 202)
})

test('a step in Redis removes more names of buckets that are over than it adds', async t => {
  const server = await startRedis(t)
  const { budgets } = await openRedis(t, server.url)
  const index = `{gatehouse}:budgets:${account}`
  for (let i = 0; i < 300; i++) await server.ask('ZADD', index, 1, `over${i}`)
  const lines = Array.from({ length: 150 }, (_, i) => ({
    ...{ bucket: `b${i}`, window: { kind: 'none' } as const, limit: 9, share: 'p.0' },
    ...{ total: 0, confirmed: 0, keep: 0, ifLost: 0, need: 1, want: 0 },
  }))
  await budgets.step({ account, sequence: 1, lease: 15_000, lines })
  assert.ok(Number(await server.ask('ZCARD', index)) < 300)
})
