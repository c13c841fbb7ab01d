import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { matchingCells } from '../../../src/ai-logs/series/cell-filters.ts'
import { Cells } from '../../../src/store/log-sums/cells.ts'
import { KnownWindows } from '../../../src/ai-logs/series/known-windows.ts'
import { CallSum } from '../../../src/store/log-sums/call-sum.ts'
import { LogSeries, type LogSeriesOptions } from '../../../src/ai-logs/series/log-series.ts'
import { batchOf } from '../../../src/store/log-batch/batch.ts'
import { openStore } from '../../../src/store/open.ts'
import type { LogEntry, LogStrategy } from '../../../src/store/records/records.ts'
import {
  type LogFilter,
  type LogWindows,
  type Store,
  StoreUnreachable,
} from '../../../src/store/contract/store.ts'
import { entryWith } from '../../admin/ai-logs/log-entries.ts'
import { startRedis } from '../../help/redis.ts'
import { thorough } from '../../help/thorough.ts'
import { gateway, logQuery } from '../../store/contract-specimens.ts'
import { account } from '../../tokens/token-with.ts'

const home = [account, 'default'] as const
const minute = 60_000
const hour = 3_600_000
const day = 86_400_000
const first = Date.UTC(2026, 0, 1)

const stores = {
  sqlite: async () => 'sqlite::memory:',
  redis: async (t: TestContext) => (await startRedis(t)).url,
}

for (const [name, place] of Object.entries(stores)) {
  test(`${name}: sums agree with the entries, whatever came and went between`, async t => {
    const store = await open(await place(t), t)
    const action = fc.oneof(
      fc.record({
        append: fc.array(fc.nat(400), { minLength: 1, maxLength: 40 }),
        most: fc.constantFrom(30, 1_000),
      }),
      fc.record({ stop: fc.array(fc.nat(400), { minLength: 1, maxLength: 40 }) }),
      fc.record({ remove: fc.nat(4) }),
    )
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 12 }), async actions => {
        await store.gateways.remove(...home)
        await store.gateways.insert(gateway({ account }))
        const series = seriesOf(store, t, { direct: 3, minEntries: 1 })
        let n = run++ * 1e6
        for (const action of actions) {
          if ('remove' in action) {
            const filters: LogFilter[] = [
              { field: 'model', operator: 'eq', values: [`model-${action.remove}`] },
            ]
            await store.logs.remove(...home, logQuery({ filters, limit: 1_000 }))
          } else {
            const [strategy, minutes]: [LogStrategy, readonly number[]] =
              'stop' in action ? ['STOP_INSERTING', action.stop] : ['DELETE_OLDEST', action.append]
            const entries = minutes.map(at => callAt(++n, first + at * minute))
            const most = 'stop' in action ? 30 : action.most
            await store.logs.append(...home, batchOf(entries), { maxEntries: most, strategy })
          }
          await agree(store, series, { since: first, width: hour, count: 7 })
          await agree(store, series, { since: first + hour, width: minute, count: 100 })
          // As another process, which has nothing but what is kept.
          const other = seriesOf(store, t, { direct: 3, minEntries: 1 })
          await agree(store, other, { since: first, width: hour, count: 7 })
        }
        await agree(store, series, { since: first - day, width: day, count: 2 })
      }),
      { numRuns: thorough(30, 6) },
    )
  })
}

for (const [name, place] of Object.entries(stores))
  test(`${name}: summed entries are not read again until they change`, async t => {
    const store = await open(await place(t), t)
    await store.gateways.insert(gateway({ account }))
    const hours = 30
    for (let at = 0; at < hours; at++) {
      const entries = Array.from({ length: 20 }, (_, i) => callAt(at * 20 + i, first + at * hour + i))
      await store.logs.append(...home, batchOf(entries), { maxEntries: 1_000, strategy: 'DELETE_OLDEST' })
    }
    const [byHour, byDay] = [
      { since: first, width: hour, count: hours },
      { since: first, width: day, count: 2 },
    ]
    const options = { minEntries: 15, direct: 100 }
    const before = seriesOf(store, t, options)
    await agree(store, before, byHour)
    await agree(store, before, byDay)
    await before.close()
    let reads = 0
    const counted: Store['logs']['sum'] = (...args) => {
      reads++
      return store.logs.sum(...args)
    }
    const logs = withMethods(store.logs, { sum: counted })
    for (const windows of [byDay, byHour]) await agree(store, seriesOf({ logs }, t, options), windows)
    assert.equal(reads, 0)
    // A removal in the first hour: that hour and the first day are no longer what they were, at least.
    const filters: LogFilter[] = [{ field: 'created_at', operator: 'lt', values: [first + 4] }]
    assert.equal(await store.logs.remove(...home, logQuery({ filters, limit: 10 })), 5)
    for (const windows of [byDay, byHour]) await agree(store, seriesOf({ logs }, t, options), windows)
    assert.ok(reads > 0)
  })

test('sums of what may still change, and of few entries, are not kept', async t => {
  const store = await open('sqlite::memory:', t)
  await store.gateways.insert(gateway({ account }))
  const now = Math.floor(Date.now() / hour) * hour
  const times = [...Array(20).fill(now), ...Array(19).fill(now - hour), ...Array(20).fill(now - 2 * hour)]
  const entries = times.map((at, n) => callAt(n, at + n))
  await store.logs.append(...home, batchOf(entries), { maxEntries: 1_000, strategy: 'DELETE_OLDEST' })
  const kept: number[] = []
  const logs = withMethods(store.logs, {
    keepSum: async (_account, _gateway, { since }) => {
      kept.push(since)
      // What the store does not take is no failure of the reader.
      throw new StoreUnreachable()
    },
  })
  const series = seriesOf({ logs }, t, { minEntries: 20 })
  await series.read(home, { since: now - 2 * hour, width: hour, count: 3 }, [])
  await series.read(home, { since: now - 2 * hour, width: minute, count: 120 }, [])
  assert.deepEqual(kept, [now - 2 * hour])
})

test('a reader waits no longer than it should, and what is missing is there for the next one', async t => {
  const store = await open('sqlite::memory:', t)
  await store.gateways.insert(gateway({ account }))
  for (let at = 0; at < 3; at++) {
    const entries = Array.from({ length: 200 }, (_, i) => callAt(at * 200 + i, first + at * hour + i))
    await store.logs.append(...home, batchOf(entries), { maxEntries: 1_000, strategy: 'DELETE_OLDEST' })
  }
  const gate = Promise.withResolvers<void>()
  const held: Store['logs']['sum'] = async (account, gateway, query) => {
    if (query.time.since < first + 2 * hour) await gate.promise
    return store.logs.sum(account, gateway, query)
  }
  const logs = withMethods(store.logs, { sum: held })
  const series = seriesOf({ logs }, t, { timeout: 50 })
  const windows = { since: first, width: hour, count: 3 }
  // Known before, so that it is there however busy the machine is.
  await seriesWhen(series, { since: first + 2 * hour, width: hour, count: 1 }, first + 2 * hour)
  const partial = await series.read(home, windows, [])
  assert.deepEqual(partial.windows.map(countOf), [0, 0, 200])
  assert.equal(partial.completeSince, first + 2 * hour)
  gate.resolve()
  const whole = await seriesWhen(series, windows, first)
  assert.deepEqual(whole.map(countOf), [200, 200, 200])
})

test('filters that sums do not know look at entries, the newest first, and say how far', async t => {
  const store = await open('sqlite::memory:', t)
  await store.gateways.insert(gateway({ account }))
  for (let at = 0; at < 4; at++) {
    const entries = Array.from({ length: 150 }, (_, i) => callAt(at * 150 + i, first + at * hour + i))
    await store.logs.append(...home, batchOf(entries), { maxEntries: 1_000, strategy: 'DELETE_OLDEST' })
  }
  const filters: LogFilter[] = [{ field: 'duration', operator: 'lt', values: [1e9] }]
  const windows = { since: first, width: hour, count: 4 }
  const series = seriesOf(store, t, { maxScanned: 300, timeout: 60_000 })
  const some = await series.read(home, windows, filters)
  assert.deepEqual(some.windows.map(countOf), [0, 0, 150, 150])
  assert.deepEqual([some.scanned, some.completeSince], [300, first + 2 * hour])
  const all = await seriesOf(store, t, { maxScanned: 601, timeout: 60_000 }).read(home, windows, filters)
  assert.deepEqual(all.windows.map(countOf), [150, 150, 150, 150])
  assert.deepEqual([all.scanned, all.completeSince], [600, first])
  const plain: LogFilter[] = [{ field: 'model', operator: 'eq', values: ['model-1'] }]
  const { windows: cells } = await series.read(home, windows, plain)
  assert.deepEqual(
    cells.map(cell => totalOf(cell, plain).count),
    [30, 30, 30, 30],
  )
})

test('percentiles are within a tenth of the durations', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 }),
      fc.constantFrom(0.5, 0.95),
      (durations, share) => {
        const sum = new CallSum()
        for (const duration of durations) sum.add(entryWith(1, { duration }))
        const exact = durations.toSorted((a, b) => a - b)[Math.ceil(share * durations.length) - 1]!
        const found = sum.percentile(share)!
        if (exact <= 1) assert.equal(found, 1)
        else
          assert.ok(
            Math.abs(found / exact - 1) < 0.11 || Math.abs(found - exact) < 0.2,
            `${found} for ${exact}`,
          )
      },
    ),
  )
  assert.equal(new CallSum().percentile(0.5), null)
})

test('a window has a thousand cells, and all else in one', () => {
  const cells = new Cells()
  for (let n = 0; n < 1_200; n++) cells.add(entryWith(n, { model: `model-${n}` }))
  assert.deepEqual([cells.size, cells.rest.count], [1_000, 200])
})

function callAt(n: number, createdAt: number): LogEntry {
  return entryWith(n, {
    createdAt,
    model: `model-${n % 5}`,
    tokenId: n % 3 === 0 ? null : `token-${n % 3}`,
    success: n % 4 > 0,
    cost: n % 7 === 0 ? null : (n % 100) / 1e6,
    tokensIn: n % 11,
    duration: n % 1_000,
  })
}

async function open(url: string, t: TestContext): Promise<Store> {
  const store = await openStore(url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  return store
}

function seriesOf(store: Pick<Store, 'logs'>, t: TestContext, options: LogSeriesOptions): LogSeries {
  const series = new LogSeries(store, { timeout: 60_000, ...options })
  t.after(() => series.close())
  return series
}

/** Reads until all is there from a time on. */
async function seriesWhen(series: LogSeries, windows: LogWindows, since: number): Promise<readonly Cells[]> {
  for (;;) {
    const { windows: cells, completeSince } = await series.read(home, windows, [])
    if (completeSince <= since) return cells
  }
}

async function agree(store: Store, series: LogSeries, windows: LogWindows): Promise<void> {
  const { since, width, count } = windows
  const direct = Array.from({ length: count }, () => new CallSum())
  const { items } = await store.logs.list(...home, logQuery({ limit: 10_000 }))
  for (const entry of items) direct[Math.floor((entry.createdAt - since) / width)]?.add(entry)
  const read = await series.read(home, windows, [])
  assert.equal(read.completeSince, since)
  assert.deepEqual(
    read.windows.map(cells => shown(totalOf(cells, []))),
    direct.map(shown),
  )
}

function withMethods(logs: Store['logs'], methods: Partial<Store['logs']>): Store['logs'] {
  return new Proxy(logs, {
    get: (target, name) => methods[name as 'marks'] ?? target[name as 'marks'].bind(target),
  })
}

function totalOf(cells: Cells, filters: readonly LogFilter[]): CallSum {
  const total = new CallSum()
  for (const { sum } of matchingCells(cells, filters)) total.merge(sum)
  return total
}

function countOf(cells: Cells): number {
  return totalOf(cells, []).count
}

function shown(sum: CallSum) {
  const { count, errors, tokensIn, tokensOut, withoutCost } = sum
  const percentiles = [sum.percentile(0.5), sum.percentile(0.95)]
  return { count, errors, tokensIn, tokensOut, withoutCost, cost: sum.cost.toFixed(9), percentiles }
}

test('windows are remembered up to a number of cells, those that were used last', () => {
  const known = new KnownWindows(10)
  const cells = new Cells()
  cells.add(entryWith(1))
  for (const name of ['a', 'b', 'c']) known.set(name, { mark: '1', cells })
  assert.equal(known.at('a', '1'), cells)
  known.set('d', { mark: '1', cells })
  assert.deepEqual(
    [known.at('b', '1'), known.at('a', '1'), known.at('a', '2'), known.last('a')],
    [null, cells, null, cells],
  )
})
