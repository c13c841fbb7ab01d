// Counting against limits: alone, with other processes through the store, and while the store is slow or away.

import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { type TestContext, test } from 'node:test'
import { LimitMetrics } from '../../src/metrics/counters/limit-metrics.ts'
import { createLogger } from '../../src/log/log.ts'
import type { Spent } from '../../src/limits/key-count.ts'
import { Limiter } from '../../src/limits/limiter.ts'
import { type Limit, limitOf } from '../../src/limits/limit.ts'
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Counters } from '../../src/store/contract/store.ts'
import { ManualClock } from '../help/clock.ts'
import { thorough } from '../help/thorough.ts'
import { SteeredCounters } from './steered-counters.ts'

const minute = { kind: 'sliding', period: 60_000 } as const
const five = limitOf('five', 5, minute)
const hundred = limitOf('hundred', 100, minute)
const million = limitOf('million', 1_000_000, minute)

function setUp({ counters, clock = new ManualClock() }: { counters?: Counters; clock?: ManualClock } = {}) {
  const metrics = new LimitMetrics()
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: (line: string) => lines.push(JSON.parse(line)) })
  const limiter = new Limiter({ clock, metrics, log, ...(counters && { counters }) })
  return { limiter, clock, metrics, lines }
}

async function openStore(t: TestContext, clock: ManualClock): Promise<SqliteStore> {
  const store = await SqliteStore.open(':memory:', { commandTimeout: 250, clock })
  t.after(() => store.close())
  return store
}

/** Spends so often, and tells how many were let in. */
async function spendAll(limiter: Limiter, limit: Limit, times: number, key = 'key'): Promise<number> {
  let allowed = 0
  for (let i = 0; i < times; i++) if ((await limiter.spend(limit, key)).isAllowed) allowed++
  return allowed
}

/** Asserts that a decision needed nobody else. */
function atOnce(spent: Spent | Promise<Spent>): Spent {
  assert.ok(!(spent instanceof Promise))
  return spent
}

test('counted locally, what fits is let in, and the wait is exact to the ms', () => {
  const { limiter, clock, metrics } = setUp()
  for (let left = 4; left >= 0; left--) {
    assert.deepEqual(atOnce(limiter.spend(five, 'key')), { isAllowed: true, remaining: left, wait: 60_000 })
    clock.advance(5_000)
  }
  const { isAllowed, remaining, wait } = atOnce(limiter.spend(five, 'key'))
  assert.deepEqual([isAllowed, remaining], [false, 0])
  assert.ok(wait > 35_000 && wait <= 36_000, `${wait}`)
  clock.advance(wait - 1)
  assert.deepEqual(limiter.spend(five, 'key'), { isAllowed: false, remaining: 0, wait: 1 })
  clock.advance(1)
  assert.equal(atOnce(limiter.spend(five, 'key')).isAllowed, true)
  assert.equal(atOnce(limiter.spend(five, 'key')).isAllowed, false)
  assert.equal(metrics.fallbacks.value, 0)
})

test('keys are counted separately, as are limits with another name or window', async () => {
  const { limiter } = setUp()
  assert.equal(await spendAll(limiter, five, 9), 5)
  assert.equal(await spendAll(limiter, five, 9, 'another'), 5)
  assert.equal(await spendAll(limiter, limitOf('other', 5, minute), 9), 5)
  assert.equal(await spendAll(limiter, limitOf('five', 5, { kind: 'sliding', period: 1_000 }), 9), 5)
  assert.equal(await spendAll(limiter, limitOf('five', 5, minute), 9), 0)
})

test('a limit that was changed starts a new count', () => {
  const { limiter } = setUp()
  const before = atOnce(limiter.spend(five, 'key'))
  const more = limitOf('five', 7, minute)
  assert.deepEqual([before.remaining, atOnce(limiter.spend(more, 'key')).remaining], [4, 6])
})

test('an allowance that is given back can be used again', async () => {
  const { limiter } = setUp()
  await spendAll(limiter, five, 3)
  limiter.giveBack(five, 'key')
  assert.equal(await spendAll(limiter, five, 9), 3)
})

test('the window of a day or month starts over at midnight UTC', async () => {
  for (const [kind, left] of [
    ['day', 43_200_000],
    ['month', 30.5 * 86_400_000],
  ] as const) {
    const { limiter, clock } = setUp({ clock: new ManualClock(Date.UTC(2026, 0, 1, 12)) })
    const limit = limitOf('quota', 5, { kind })
    assert.equal(await spendAll(limiter, limit, 9), 5)
    clock.advance(left - 1)
    assert.deepEqual(limiter.spend(limit, 'key'), { isAllowed: false, remaining: 0, wait: 1 }, kind)
    clock.advance(1)
    assert.equal(await spendAll(limiter, limit, 9), 5)
  }
})

test('a fixed window starts over at each multiple of its period', async () => {
  const { limiter, clock } = setUp()
  const limit = limitOf('fixed', 5, { kind: 'fixed', period: 90_000 })
  clock.advance(80_000)
  assert.equal(await spendAll(limiter, limit, 9), 5)
  const { wait } = atOnce(limiter.spend(limit, 'key'))
  assert.ok(wait > 0 && wait <= 90_000 && (clock.now() + wait) % 90_000 === 0, `${wait}`)
  clock.advance(wait)
  assert.equal(await spendAll(limiter, limit, 9), 5)
})

test('the number of keys in memory is bounded', async () => {
  const { limiter } = setUp()
  assert.equal(await spendAll(limiter, five, 9), 5)
  for (let i = 0; i < 49_999; i++) limiter.spend(five, `other ${i}`)
  assert.equal(await spendAll(limiter, five, 1), 0)
  for (let i = 0; i < 50_000; i++) limiter.spend(five, `another ${i}`)
  assert.equal(await spendAll(limiter, five, 1), 1)
})

test('processes that share a store let in no more than one would', async t => {
  const clock = new ManualClock()
  const { counters } = await openStore(t, clock)
  const limiters = Array.from({ length: 4 }, () => setUp({ counters, clock }).limiter)
  for (const limit of [five, hundred, limitOf('thousand', 1_000, minute)]) {
    let allowed = 0
    for (let i = 0; i < limit.max; i++)
      for (const limiter of limiters) if ((await limiter.spend(limit, 'key')).isAllowed) allowed++
    assert.ok(allowed >= limit.max && allowed <= 1.02 * limit.max, `${allowed} of ${limit.max}`)
  }
})

test('far below the limit no request waits, and the count is reported to the store from time to time', async t => {
  const clock = new ManualClock()
  const { counters } = await openStore(t, clock)
  const { limiter, metrics } = setUp({ counters, clock })
  for (let i = 0; i < 10_000; i++) {
    assert.equal(atOnce(limiter.spend(million, 'key')).isAllowed, true)
    clock.advance(1)
    if (i % 100 === 0) await turn()
  }
  assert.ok(metrics.storeCalls.value > 0 && metrics.storeCalls.value < 20, `${metrics.storeCalls.value}`)
  assert.equal(metrics.fallbacks.value, 0)
})

test('a small limit queries the store once for a new key, and not again while the key is far below it', async t => {
  const clock = new ManualClock()
  const { counters } = await openStore(t, clock)
  const { limiter, metrics } = setUp({ counters, clock })
  assert.equal((await limiter.spend(hundred, 'key')).remaining, 99)
  assert.equal(metrics.storeCalls.value, 1)
  clock.advance(1_000)
  assert.equal(atOnce(limiter.spend(hundred, 'key')).remaining, 98)
})

test('over the limit the store is not queried until the wait is over', async t => {
  const clock = new ManualClock()
  const { counters } = await openStore(t, clock)
  const { limiter, metrics } = setUp({ counters, clock })
  assert.equal(await spendAll(limiter, five, 6), 5)
  const asked = metrics.storeCalls.value
  const { wait } = atOnce(limiter.spend(five, 'key'))
  clock.advance(wait - 1)
  assert.equal(atOnce(limiter.spend(five, 'key')).isAllowed, false)
  assert.equal(metrics.storeCalls.value, asked)
  clock.advance(1)
  assert.equal((await limiter.spend(five, 'key')).isAllowed, true)
})

test('counts of other processes are read before the limit is exceeded', async () => {
  const clock = new ManualClock()
  const counters = new SteeredCounters()
  const { limiter } = setUp({ counters, clock })
  await limiter.spend(hundred, 'key')
  atOnce(limiter.spend(hundred, 'key'))
  counters.others = 99
  // Long enough for ten times the limit to use up the rest.
  clock.advance(6_000)
  assert.equal((await limiter.spend(hundred, 'key')).isAllowed, false)
})

test('a request that was given back is also taken back in the store', async t => {
  const clock = new ManualClock()
  const { counters } = await openStore(t, clock)
  const [ours, theirs] = [setUp({ counters, clock }).limiter, setUp({ counters, clock }).limiter]
  await spendAll(ours, five, 4)
  for (let i = 0; i < 3; i++) ours.giveBack(five, 'key')
  await ours.close()
  assert.equal(await spendAll(theirs, five, 9), 4)
})

test('an allowance given back at the limit can be used again at once, by the minute and by the day', async t => {
  const clock = new ManualClock()
  const { counters } = await openStore(t, clock)
  const { limiter } = setUp({ counters, clock })
  for (const limit of [five, limitOf('quota', 5, { kind: 'day' })]) {
    assert.equal(await spendAll(limiter, limit, 5), 5)
    limiter.giveBack(limit, 'key')
    limiter.giveBack(limit, 'key')
    assert.equal(await spendAll(limiter, limit, 9), 2, limit.name)
  }
})

test('closing a limiter reports the rest to the store', async t => {
  const clock = new ManualClock()
  const { counters } = await openStore(t, clock)
  const [ours, theirs] = [setUp({ counters, clock }).limiter, setUp({ counters, clock }).limiter]
  await spendAll(ours, hundred, 2)
  await ours.close()
  assert.equal((await theirs.spend(hundred, 'key')).remaining, 97)
})

test('a count that nothing else reports is reported after a while', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const clock = new ManualClock()
  const counters = new SteeredCounters()
  const { limiter } = setUp({ counters, clock })
  await limiter.spend(million, 'key')
  await turn()
  limiter.spend(million, 'key')
  const told = () => counters.asks.reduce((sum, { done, wanted }) => sum + done + wanted, 0)
  assert.equal(told(), 1)
  for (let second = 0; second < 6; second++) {
    clock.advance(1_000)
    t.mock.timers.tick(1_000)
    await turn()
  }
  assert.equal(told(), 2)
})

test('keys in the store contain nothing that clients send', async () => {
  const counters = new SteeredCounters()
  const { limiter } = setUp({ counters })
  await limiter.spend(five, 'secret')
  await limiter.spend(five, 'x'.repeat(100_000))
  for (const { key } of counters.asks) assert.match(key, /^[\w-]{22}$/)
  assert.notEqual(counters.asks[0]!.key, counters.asks[1]!.key)
})

const countingLocally = 'rate limits no longer shared with other processes, counting locally'

test('while the store is unreachable no request waits, and the process counts on locally', async () => {
  const counters = new SteeredCounters()
  const { limiter, clock, metrics, lines } = setUp({ counters })
  assert.equal(await spendAll(limiter, five, 2), 2)
  counters.isUnreachable = true
  for (let i = 0; i < 3; i++) assert.equal(atOnce(limiter.spend(five, 'key')).isAllowed, true)
  const { isAllowed, wait } = atOnce(limiter.spend(five, 'key'))
  assert.equal(isAllowed, false)
  assert.ok(wait > 0 && wait <= 61_000, `${wait}`)
  assert.equal(metrics.fallbacks.value, 4)
  clock.advance(62_000)
  assert.equal(await spendAll(limiter, five, 9), 5)
  assert.deepEqual(
    lines.map(({ msg, reason }) => [msg, reason]),
    [[countingLocally, 'store unreachable']],
  )
})

test('the log says why the store does not count: a full disk, or no reply in time', async () => {
  for (const [mode, code] of [
    ['fail', 'SQLITE_FULL'],
    ['hold', 'ETIMEDOUT'],
  ] as const) {
    const counters = new SteeredCounters()
    const { limiter, lines } = setUp({ counters })
    counters.mode = mode
    counters.code = code
    assert.equal((await limiter.spend(five, 'key')).isAllowed, true)
    const [told] = lines
    assert.deepEqual([lines.length, told!.msg, told!.reason], [1, countingLocally, code])
    counters.release()
  }
})

test('when the store is back, what was let in meanwhile is reported, as far as it still counts', async () => {
  const counters = new SteeredCounters()
  const { limiter, clock, lines } = setUp({ counters })
  counters.isUnreachable = true
  await spendAll(limiter, five, 2)
  clock.advance(62_000)
  await spendAll(limiter, five, 3)
  counters.isUnreachable = false
  assert.equal((await limiter.spend(five, 'key')).remaining, 1)
  assert.deepEqual(
    counters.asks.map(({ done }) => done),
    [3],
  )
  assert.equal(lines.at(-1)!.msg, 'rate limits shared with other processes again')
})

test('a store that keeps failing and recovering does not flood the log', async () => {
  const counters = new SteeredCounters()
  const { limiter, clock, lines } = setUp({ counters })
  for (let i = 0; i < 20; i++) {
    counters.isUnreachable = i % 2 === 0
    await limiter.spend(million, `key ${i}`)
    await turn()
    clock.advance(100)
  }
  assert.equal(lines.length, 2)
})

test('no request waits long for a slow store; what it counts in the end is not counted twice', async () => {
  const counters = new SteeredCounters()
  const { limiter, metrics } = setUp({ counters })
  await spendAll(limiter, five, 1)
  counters.mode = 'hold'
  const began = performance.now()
  assert.equal((await limiter.spend(five, 'key')).isAllowed, true)
  const waited = performance.now() - began
  assert.ok(waited >= 140 && waited < 20_000, `${waited}`)
  assert.equal(metrics.fallbacks.value, 1)
  counters.release()
  await turn()
  assert.equal(await spendAll(limiter, five, 9), 3)
})

test('the number of requests that wait for a slow store is bounded', async () => {
  const counters = new SteeredCounters()
  const { limiter } = setUp({ counters })
  counters.mode = 'hold'
  const spent = [five, limitOf('other', 5, minute)].flatMap(limit =>
    Array.from({ length: 600 }, (_, i) => limiter.spend(limit, `key ${i}`)),
  )
  assert.equal(spent.filter(one => one instanceof Promise).length, 1_000)
  counters.release()
  await Promise.all(spent)
})

const day = limitOf('day', 5, { kind: 'day' })

for (const kind of ['alone', 'with a store'] as const) {
  test(`${kind}, a look foretells what the next request gets, and counts nothing`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            limit: fc.constantFrom(five, day),
            key: fc.constantFrom('a', 'b'),
            ms: fc.constantFrom(0, 1, 20_000, 61_000),
            looks: fc.integer({ min: 1, max: 3 }),
          }),
          { maxLength: 30 },
        ),
        async steps => {
          const clock = new ManualClock()
          const store =
            kind === 'alone' ? null : await SqliteStore.open(':memory:', { commandTimeout: 250, clock })
          const { limiter, metrics } = setUp({ clock, ...(store && { counters: store.counters }) })
          for (const { limit, key, ms, looks } of steps) {
            clock.advance(ms)
            const calls = metrics.storeCalls.value
            const seen: Spent[] = []
            for (let i = 0; i < looks; i++) seen.push(await limiter.peek(limit, key))
            assert.equal(metrics.storeCalls.value, calls)
            const spent = await limiter.spend(limit, key)
            for (const look of seen) {
              assert.deepEqual([look.isAllowed, look.remaining], [spent.isAllowed, spent.remaining])
              // The store counts in its own buckets.
              if (kind === 'alone') assert.equal(look.wait, spent.wait)
            }
          }
          await limiter.close()
          await store?.close()
        },
      ),
      { numRuns: kind === 'alone' ? thorough(200, 60) : thorough(40, 15) },
    )
  })
}

/** Ms by which a request may count longer than the window: a bucket here, and one in the store. */
const longer = 2_000
const counted = [five, limitOf('thirty', 30, minute), limitOf('three hundred', 300, minute)]

for (const kind of ['alone', 'with a store'] as const) {
  test(`${kind}, a list of all that were let in and not given back says the same`, async () => {
    const spend = fc.record({
      limit: fc.constantFrom(...counted),
      key: fc.constantFrom('a', 'b'),
      /** Of all, or all but one. */
      times: fc.constantFrom(1, 2, 0.5, 0.999, 1.1),
      together: fc.boolean(),
      givesBack: fc.boolean(),
    })
    const pause = fc.constantFrom(0, 1, 999, 5_000, 30_000, 59_000, 61_000)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(spend, pause), { maxLength: 15 }), async steps => {
        const clock = new ManualClock()
        const store =
          kind === 'alone' ? null : await SqliteStore.open(':memory:', { commandTimeout: 250, clock })
        const { limiter } = setUp({ clock, ...(store && { counters: store.counters }) })
        const lists = new Map<string, number[]>()
        for (const [{ limit, key, times, together, givesBack }, ms] of steps) {
          const list = lists.getOrInsert(limit.name + key, [])
          const now = clock.monotonic()
          const since = (ms: number) => list.filter(at => at > now - ms).length
          const count = Number.isInteger(times) ? times : Math.floor(times * limit.max)
          const all = Array.from({ length: count }, () => () => limiter.spend(limit, key))
          const spent = together ? await Promise.all(all.map(spend => spend())) : []
          let letIn = 0
          const giveBack = (): void => {
            limiter.giveBack(limit, key)
            list.pop()
          }
          for (const [i, spend] of all.entries()) {
            const { isAllowed } = spent[i] ?? (await spend())
            if (isAllowed) assert.ok(since(minute.period) < limit.max)
            else assert.ok(since(minute.period + longer) >= limit.max)
            if (!isAllowed) continue
            list.push(now)
            letIn++
            if (givesBack && !together) giveBack()
          }
          if (givesBack && together) for (let i = 0; i < letIn; i++) giveBack()
          // What was given back is reported at the end of a turn, behind the report before.
          for (let turns = 0; turns < 6; turns++) await turn()
          clock.advance(ms)
        }
        await limiter.close()
        await store?.close()
      }),
      { numRuns: kind === 'alone' ? thorough(200, 60) : thorough(50, 15) },
    )
  })
}

test('a look sees what other processes have counted, and does without a store that is slow', async t => {
  const clock = new ManualClock()
  const store = await openStore(t, clock)
  const others = setUp({ counters: store.counters, clock }).limiter
  assert.equal(await spendAll(others, five, 4), 4)
  await others.close()
  const { limiter } = setUp({ counters: store.counters, clock })
  assert.equal((await limiter.peek(five, 'key')).remaining, 0)
  const counters = new SteeredCounters()
  counters.mode = 'fail'
  const alone = setUp({ counters, clock }).limiter
  assert.equal((await alone.peek(five, 'key')).remaining, 4)
})
