// Whatever is done when, both backends have exactly what the ledger has: to the millisecond, since the time of the server is replaced in the scripts.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import {
  type BucketAccount,
  emptyAccount,
  endOfAccount,
  maxEnded,
  readAccount,
  resetAccount,
  takeStep,
} from '../../src/store/budget-ledger/ledger.ts'
import type { BudgetEntry, Budgets } from '../../src/store/contract/budgets.ts'
import type { BudgetBucket, BudgetLine, BudgetReply, BudgetStep } from '../../src/store/records/budget.ts'
import { RedisBudgets } from '../../src/store/redis/counts/budgets.ts'
import { serverClockLua } from '../../src/store/redis/server/clock.ts'
import { keys } from '../../src/store/redis/server/keys.ts'
import type { Script } from '../../src/store/redis/server/script.ts'
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { ManualClock } from '../help/clock.ts'
import { type RedisServer, startRedis } from '../help/redis.ts'
import { hex } from './contract-specimens.ts'

const minute = 60_000
const bucketsAt = (start: number): readonly BudgetBucket[] => [
  { bucket: 'month', window: { kind: 'fixed', until: start + 30 * 1_440 * minute } },
  { bucket: 'soon', window: { kind: 'fixed', until: start + 20 * minute } },
  { bucket: 'hour', window: { kind: 'sliding', period: 60 * minute } },
  { bucket: 'minute', window: { kind: 'sliding', period: minute } },
  { bucket: 'held', window: { kind: 'none' } },
]
/** The largest amounts are beyond the 14 digits that Lua writes by itself, and their sums still exact. */
const scales = [1, 1_000_000_000_007]

/** The ledger, with what stores do around it: what is over is forgotten. */
class Model {
  readonly #clock: ManualClock
  readonly #entries = new Map<string, { account: BucketAccount; endsAt: number }>()
  #endedAt = 0

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  step(step: BudgetStep): BudgetReply {
    const accounts = step.lines.map(line => this.#accountOf(line))
    const reply = takeStep(accounts, step, this.#clock.now())
    for (const [i, line] of step.lines.entries()) this.#put(line, accounts[i]!)
    return reply
  }

  read(all: readonly BudgetBucket[]) {
    return all.map(one => {
      const account = structuredClone(this.#accountOf(one))
      return { bucket: one.bucket, ...readAccount(account, one.window, this.#clock.now()) }
    })
  }

  reset(bucket: BudgetBucket): void {
    const account = this.#accountOf(bucket)
    resetAccount(account, bucket.window, this.#clock.now())
    if (this.#entries.has(bucket.bucket)) this.#put(bucket, account)
  }

  /** Forgets the buckets that have ended, and returns them. */
  pass(ms: number): readonly string[] {
    // What was forgotten is not there again because the clock is set back.
    if (this.#clock.now() + ms >= this.#endedAt) this.#clock.advance(ms)
    const now = this.#clock.now()
    const over = [...this.#entries].filter(([, { endsAt }]) => endsAt <= now)
    for (const [bucket, { endsAt }] of over) {
      this.#entries.delete(bucket)
      this.#endedAt = Math.max(this.#endedAt, endsAt)
    }
    return over.map(([bucket]) => bucket)
  }

  get entries(): readonly BudgetEntry[] {
    return Array.from(this.#entries, ([bucket, { account, endsAt }]) => ({ bucket, endsAt, ...account }))
  }

  #accountOf({ bucket }: BudgetBucket): BucketAccount {
    return this.#entries.get(bucket)?.account ?? emptyAccount()
  }

  #put({ bucket, window }: BudgetBucket, account: BucketAccount): void {
    this.#entries.set(bucket, { account, endsAt: endOfAccount(account, window, this.#clock.now()) })
  }
}

/** Budgets in a server whose scripts have the time of a clock. */
function onRedis(server: RedisServer, clock: ManualClock): Budgets {
  const run = (script: Script, homes: readonly string[], [, ...args]: readonly (string | number)[]) => {
    const text = script.text.replace(serverClockLua, `local function now() return ${clock.now()} end\n`)
    return server.ask('EVAL', text, homes.length, ...homes, 0, ...args)
  }
  const links = {
    reader: {
      // With scores beside members, as the store's own connections have it.
      run: async ([name, ...args]: readonly [string, ...(string | number)[]]) =>
        ((await server.ask(name, ...args)) as unknown[]).flat(),
      script: run,
    },
    writes: { run },
    connection: { isUnreachable: false },
  } as unknown as ConstructorParameters<typeof RedisBudgets>[0]
  return new RedisBudgets(links, clock)
}

const bucketCount = bucketsAt(0).length
const amount = fc.nat({ max: 60 })
const line = fc
  .record({
    at: fc.nat({ max: bucketCount - 1 }),
    share: fc.constantFrom('p.0', 'q.0', 'r.0'),
    limit: fc.nat({ max: 200 }),
    total: amount,
    keep: amount,
    known: fc.constantFrom(0, 0.5, 1, 1),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
    need: fc.oneof(fc.constant(0), amount),
    want: fc.nat({ max: 400 }),
  })
  .map(({ part, known, ...line }) => ({
    ...line,
    ifLost: Math.floor(part * line.keep),
    confirmed: Math.floor(known * line.total),
  }))
const lines = fc.uniqueArray(line, { selector: ({ at }) => at, minLength: 1, maxLength: 4 })
const lease = fc.constantFrom(5_000, 15_000, 70_000)
const passes = [-1_500, 1, 999, 4_000, 15_000, 61_000, 10 * minute, 25 * minute, 61 * minute, 3_000 * minute]
const event = fc.oneof(
  { weight: 8, arbitrary: fc.record({ lines, lease, back: fc.constantFrom(0, 0, 0, 0, 1, 3) }) },
  { weight: 4, arbitrary: fc.record({ pass: fc.constantFrom(...passes) }) },
  { weight: 1, arbitrary: fc.record({ reset: fc.nat({ max: bucketCount - 1 }) }) },
)

test('after whatever was done, both stores have exactly what the ledger has', async t => {
  const { clock, stores, server } = await setUp(t)
  const all = Object.values(stores)
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...scales),
      fc.array(event, { minLength: 1, maxLength: 25 }),
      async (scale, events) => {
        const account = hex(16)
        const model = new Model(clock)
        const buckets = bucketsAt(clock.now())
        let sequence = 10
        for (const event of events) {
          if ('pass' in event) {
            // As the server does by its own clock.
            for (const bucket of model.pass(event.pass)) await server.ask('DEL', keys.budget(account, bucket))
          } else if ('reset' in event) {
            const bucket = buckets[event.reset]!
            model.reset(bucket)
            for (const budgets of all) await budgets.reset(account, bucket)
          } else {
            const lines = event.lines.map(line => ({ ...line, ...buckets[line.at]! })).map(scaledBy(scale))
            const step = { account, sequence: ++sequence - event.back, lease: event.lease, lines }
            const reply = model.step(step)
            for (const [name, budgets] of Object.entries(stores))
              assert.deepEqual(await budgets.step(step), reply, name)
          }
          const sums = model.read(buckets)
          for (const [name, budgets] of Object.entries(stores))
            assert.deepEqual(await budgets.read(account, buckets), sums, name)
        }
        await expectEntries(stores, account, model.entries)
        const copy = hex(16)
        await stores.Redis.restore(copy, await entriesOf(stores.SQLite, account))
        await stores.SQLite.restore(copy, await entriesOf(stores.Redis, account))
        await expectEntries(stores, copy, model.entries)
      },
    ),
    { numRuns: 100 },
  )
})

test('of processes that are killed again and again, what they were charged stays, and few shares', async t => {
  const { clock, stores } = await setUp(t)
  const account = hex(16)
  const model = new Model(clock)
  const buckets = bucketsAt(clock.now()).filter(({ bucket }) => bucket === 'month')
  const lineOf = (share: string, keep: number, ifLost: number, total = 0): BudgetLine => ({
    ...{ ...buckets[0]!, share, limit: 1_000_000, total, confirmed: 0, keep, ifLost, need: 0, want: 0 },
  })
  const step = async (sequence: number, lines: readonly BudgetLine[]) => {
    const step = { account, sequence, lease: 15_000, lines }
    const reply = model.step(step)
    for (const [name, budgets] of Object.entries(stores))
      assert.deepEqual(await budgets.step(step), reply, name)
  }
  const count = maxEnded + 50
  for (let i = 0; i < count; i++) {
    // Each tenth has ended in order, and knows all that the store has about it.
    await step(i + 1, [i % 10 === 9 ? lineOf(`p.${i}`, 0, 0) : lineOf(`p.${i}`, 30, 10)])
    clock.advance(1_000)
  }
  clock.advance(15_000)
  await step(count + 1, [lineOf('p.last', 0, 0)])
  await expectEntries(stores, account, model.entries)
  const [{ shares }] = model.entries as [BudgetEntry]
  assert.equal(Object.keys(shares).length, maxEnded + 1)
  // The first that were killed, and all who ended in order, are forgotten.
  const killed = Array.from({ length: count }, (_, i) => i).filter(i => i % 10 !== 9)
  assert.deepEqual(
    Object.keys(shares).toSorted(),
    [...killed.slice(-maxEnded).map(i => `p.${i}`), 'p.last'].toSorted(),
  )
  const charged = 10 * killed.length
  assert.deepEqual(
    model.read(buckets).map(({ spent }) => spent),
    [charged],
  )
  // One that was only stopped corrects what it was charged.
  await step(count + 2, [lineOf(`p.${killed.at(-1)}`, 0, 0, 25)])
  for (const [name, budgets] of Object.entries(stores)) {
    const [sum] = await budgets.read(account, buckets)
    assert.equal(sum!.spent, charged + 15, name)
  }
})

async function setUp(t: TestContext) {
  const clock = new ManualClock(Date.now())
  const server = await startRedis(t, { aof: false })
  const store = await SqliteStore.open(':memory:', { commandTimeout: 4_000, clock })
  t.after(() => store.close())
  return { clock, server, stores: { SQLite: store.budgets, Redis: onRedis(server, clock) } }
}

function scaledBy(scale: number) {
  return ({ bucket, window, share, limit, total, confirmed, ...line }: BudgetLine): BudgetLine => ({
    ...{ bucket, window, share },
    ...{ limit: limit * scale, total: total * scale, confirmed: confirmed * scale },
    ...{ keep: line.keep * scale, ifLost: line.ifLost * scale },
    ...{ need: line.need * scale, want: line.want * scale },
  })
}

async function entriesOf(budgets: Budgets, account: string): Promise<readonly BudgetEntry[]> {
  const entries = (await Array.fromAsync(budgets.entries(account))).flat()
  return entries.toSorted((one, other) => (one.bucket < other.bucket ? -1 : 1))
}

/** Asserts what the stores have of an account, and until when; an empty bucket may be there or not. */
async function expectEntries(
  stores: Readonly<Record<string, Budgets>>,
  account: string,
  entries: readonly BudgetEntry[],
): Promise<void> {
  const plain = (all: readonly BudgetEntry[]) =>
    all
      .filter(({ slots, shares }) => slots.length > 0 || Object.keys(shares).length > 0)
      .toSorted((one, other) => (one.bucket < other.bucket ? -1 : 1))
      .map(({ shares, ...entry }) => ({ ...entry, shares: { ...shares } }))
  for (const [name, budgets] of Object.entries(stores))
    assert.deepEqual(plain(await entriesOf(budgets, account)), plain(entries), name)
}
