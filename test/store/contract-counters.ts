// The promises of a store about what it counts for rate limits and quotas.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { CounterAsk, CounterWindow } from '../../src/store/contract/store.ts'
import type { Place } from './contract.ts'
import { ContractClock } from './contract-clock.ts'
import { hex } from './contract-specimens.ts'

const minute: CounterWindow = { kind: 'sliding', period: 60_000 }
const usual = { window: minute, limit: 5, done: 0, wanted: 1 }

/** Opens a store whose clock the test moves, and a key that nobody has counted by. */
async function setUp(place: Place, t: TestContext) {
  const open = await place(t)
  const clock = new ContractClock()
  const { counters } = await open(clock)
  const key = hex(16)
  const spend = (ask: Partial<CounterAsk> = {}) => counters.spend({ key, ...usual, ...ask })
  return { open, clock, counters, key, spend }
}

export function countersContract(name: string, place: Place): void {
  test(`${name}: what is wanted is counted as far as it fits`, async t => {
    const { spend } = await setUp(place, t)
    assert.deepEqual(await spend(), { count: 1, granted: 1, wait: 0 })
    assert.deepEqual(await spend({ wanted: 3 }), { count: 4, granted: 3, wait: 0 })
    const last = await spend({ wanted: 3 })
    assert.deepEqual([last.count, last.granted], [5, 1])
    const over = await spend()
    assert.deepEqual([over.count, over.granted], [5, 0])
    assert.ok(over.wait > 59_000 && over.wait <= 61_000, `${over.wait}`)
  })

  test(`${name}: what is done is counted whatever the limit, and before what is wanted`, async t => {
    const { spend } = await setUp(place, t)
    assert.equal((await spend({ done: 7, wanted: 0 })).count, 7)
    assert.equal((await spend()).granted, 0)
    assert.equal((await spend({ done: -4, wanted: 0 })).count, 3)
    const { count, granted } = await spend({ done: 1 })
    assert.deepEqual([count, granted], [5, 1])
  })

  test(`${name}: what one process sends in one turn is counted in order, so that reports precede requests`, async t => {
    const { spend } = await setUp(place, t)
    // While the node of a cluster is still dialled, others forward to it.
    await spend({ wanted: 0 })
    const answers = await Promise.all([
      spend({ done: 2, wanted: 0 }),
      spend({ wanted: 2 }),
      spend(),
      spend({ done: 1, wanted: 0 }),
      spend(),
    ])
    assert.deepEqual(
      answers.map(({ count, granted }) => [count, granted]),
      [
        [2, 0],
        [4, 2],
        [5, 1],
        [6, 0],
        [6, 0],
      ],
    )
  })

  test(`${name}: asking for nothing counts nothing, and tells the count`, async t => {
    const { spend } = await setUp(place, t)
    assert.deepEqual(await spend({ wanted: 0 }), { count: 0, granted: 0, wait: 0 })
    await spend({ wanted: 2 })
    assert.deepEqual(await spend({ wanted: 0 }), { count: 2, granted: 0, wait: 0 })
  })

  test(`${name}: an event counts for the period, at most a sixtieth longer, and then no more`, async t => {
    const { clock, spend } = await setUp(place, t)
    await spend({ wanted: 3 })
    clock.advance(30_000)
    await spend({ wanted: 2 })
    clock.advance(28_000)
    const { count, wait } = await spend({ wanted: 0 })
    assert.equal(count, 5)
    assert.ok(wait > 1_000 && wait <= 3_000, `${wait}`)
    clock.advance(wait - 1_000)
    assert.equal((await spend()).granted, 0)
    clock.advance(1_000)
    assert.equal((await spend({ wanted: 0 })).count, 2)
    clock.advance(31_000)
    assert.equal((await spend({ wanted: 0 })).count, 0)
    assert.equal((await spend({ wanted: 9 })).granted, 5)
  })

  test(`${name}: the wait is over when one more fits, not when all do`, async t => {
    const { clock, spend } = await setUp(place, t)
    for (let i = 0; i < 5; i++) {
      await spend()
      clock.advance(5_000)
    }
    const { wait } = await spend()
    assert.ok(wait > 34_000 && wait <= 36_000, `${wait}`)
    assert.ok((await spend({ limit: 4 })).wait - wait >= 4_000)
    clock.advance(wait)
    assert.equal((await spend({ wanted: 2 })).granted, 1)
  })

  test(`${name}: a count until a time ends at that time`, async t => {
    const { clock, spend } = await setUp(place, t)
    const until = clock.now() + 10_000
    const first = { window: { kind: 'fixed', until } } as const
    const next = { window: { kind: 'fixed', until: until + 10_000 } } as const
    assert.deepEqual(await spend({ ...first, wanted: 4 }), { count: 4, granted: 4, wait: 0 })
    const over = await spend({ ...first, wanted: 4 })
    assert.deepEqual([over.count, over.granted], [5, 1])
    assert.ok(over.wait > 9_000 && over.wait <= 10_000, `${over.wait}`)
    assert.deepEqual(await spend(next), { count: 1, granted: 1, wait: 0 })
    clock.advance(10_001)
    assert.deepEqual(await spend(next), { count: 2, granted: 1, wait: 0 })
  })

  test(`${name}: a month is counted to its end`, async t => {
    const { clock, spend } = await setUp(place, t)
    const month = { window: { kind: 'fixed', until: clock.now() + 31 * 86_400_000 } } as const
    await spend({ ...month, done: 3, wanted: 0 })
    clock.advance(30 * 86_400_000)
    assert.equal((await spend({ ...month, wanted: 3 })).granted, 2)
  })

  test(`${name}: keys are counted apart, and processes together`, async t => {
    const { open, clock, counters, spend } = await setUp(place, t)
    const stores = [{ counters }, await open(clock), await open(clock)]
    const key = hex(16)
    const asks = Array.from({ length: 60 }, (_, i) =>
      stores[i % 3]!.counters.spend({ key, ...usual, limit: 20 }),
    )
    const granted = (await Promise.all(asks)).reduce((sum, answer) => sum + answer.granted, 0)
    assert.equal(granted, 20)
    assert.equal((await spend({ wanted: 0 })).count, 0)
  })

  test(`${name}: whatever is asked when, a list of all that was counted says the same`, async t => {
    const { clock, counters } = await setUp(place, t)
    const period = fc.constantFrom(60_000, 3_600_000)
    const steps = fc.array(
      fc.record({
        part: fc.constantFrom(0, 0, 0.1, 0.5, 0.98, 0.995, 1.02, 4),
        limit: fc.constantFrom(5, 5, 20),
        done: fc.nat(3),
        wanted: fc.nat(9),
      }),
      { maxLength: 25 },
    )
    await fc.assert(
      fc.asyncProperty(period, steps, async (period, steps) => {
        const key = hex(16)
        /** What was counted, between which times. */
        const list: { readonly from: number; readonly to: number; readonly amount: number }[] = []
        const sum = (isCounted: (event: (typeof list)[number]) => boolean) =>
          list.reduce((sum, event) => (isCounted(event) ? sum + event.amount : sum), 0)
        for (const { part, ...amounts } of steps) {
          clock.advance(part * period)
          const from = clock.now()
          const ask = { key, window: { kind: 'sliding', period }, ...amounts } as const
          const { count, granted, wait } = await counters.spend(ask)
          const to = clock.now()
          const { limit, done, wanted } = amounts
          const before = count - done - granted
          const least = sum(event => to - event.from < period)
          const most = sum(event => from - event.to <= period + period / 60)
          assert.ok(least <= before && before <= most, `${before} is not from ${least} to ${most}`)
          assert.equal(granted, Math.max(0, Math.min(wanted, limit - before - done)))
          assert.equal(wait > 0, count >= limit)
          assert.ok(wait <= period + period / 30, `${wait}`)
          list.push({ from, to, amount: done + granted })
        }
      }),
      { numRuns: 40 },
    )
  })

  test(`${name}: a short window is counted in as many parts`, async t => {
    const { clock, spend } = await setUp(place, t)
    const second = { window: { kind: 'sliding', period: 1_000 } } as const
    assert.equal((await spend({ ...second, wanted: 5 })).granted, 5)
    clock.advance(1_034)
    assert.equal((await spend({ ...second, wanted: 9 })).granted, 5)
  })
}
