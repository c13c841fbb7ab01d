// Limits while the store fails or is slow: nobody waits for it again before it has answered in time.

import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { type TestContext, test } from 'node:test'
import { LimitMetrics } from '../../src/metrics/counters/limit-metrics.ts'
import { Limiter } from '../../src/limits/limiter.ts'
import { limitOf } from '../../src/limits/limit.ts'
import { ManualClock } from '../help/clock.ts'
import { SteeredCounters } from './steered-counters.ts'

const five = limitOf('five', 5, { kind: 'sliding', period: 60_000 })

type Timers = 'setInterval' | 'setTimeout'

function setUp(t: TestContext, apis: Timers[] = ['setInterval']) {
  t.mock.timers.enable({ apis })
  const clock = new ManualClock()
  const counters = new SteeredCounters()
  const metrics = new LimitMetrics()
  const limiter = new Limiter({ clock, counters, metrics })
  const second = async () => {
    clock.advance(1_000)
    t.mock.timers.tick(1_000)
    await turn()
  }
  /** Spends so often, and tells how many had to wait. */
  const waits = (times: number, key: string) =>
    Array.from({ length: times }, () => limiter.spend(five, key)).filter(one => one instanceof Promise).length
  return { clock, counters, metrics, limiter, second, waits }
}

test('only one request waits for a store that stays slow', async t => {
  const { clock, counters, metrics, limiter, second, waits } = setUp(t)
  counters.mode = 'hold'
  assert.equal((await limiter.spend(five, 'key')).isAllowed, true)
  for (let i = 0; i < 5; i++) {
    const asked = counters.asks.length
    assert.equal(waits(5, `key ${i}`), 0)
    clock.advance(200)
    counters.release()
    await turn()
    counters.mode = 'hold'
    await second()
    assert.equal(counters.asks.length, asked + 1, 'one report tries it')
  }
  assert.equal(metrics.fallbacks.value, 1 + 5 * 5)
  counters.release()
  await turn()
  assert.equal(waits(1, 'key'), 1)
})

test('a store that was held up only once is used again as soon as it replies', async t => {
  const { counters, limiter, waits } = setUp(t)
  counters.mode = 'hold'
  await limiter.spend(five, 'key')
  assert.equal(waits(1, 'other'), 0)
  counters.release()
  await turn()
  assert.equal(waits(1, 'another'), 1)
})

test('requests that arrived while one waited in vain do not wait as well', async t => {
  const { counters, limiter } = setUp(t, ['setInterval', 'setTimeout'])
  counters.mode = 'hold'
  let settled = 0
  for (let i = 0; i < 2; i++) {
    const spent = limiter.spend(five, 'key')
    assert.ok(spent instanceof Promise)
    void spent.then(() => settled++)
  }
  for (let ms = 0; ms < 148; ms++) t.mock.timers.tick(1)
  await turn()
  assert.equal(settled, 0)
  for (let ms = 148; ms < 152; ms++) t.mock.timers.tick(1)
  await turn()
  assert.equal(settled, 2)
  assert.equal(counters.asks.length, 2, 'the question and what tries whether it was held up only once')
})

test('a store that fails is not queried for a second, and no request waits for the next try', async t => {
  const { counters, metrics, limiter, second, waits } = setUp(t)
  counters.mode = 'fail'
  await limiter.spend(five, 'key')
  assert.equal(waits(1, 'key'), 0)
  assert.equal(counters.asks.length, 1)
  await second()
  assert.equal(waits(1, 'key'), 0)
  assert.equal(counters.asks.length, 2)
  counters.mode = 'answer'
  await second()
  assert.equal((await limiter.spend(five, 'key')).remaining, 1)
  assert.deepEqual([counters.asks[2]!.done, metrics.fallbacks.value], [3, 3])
})

test("a store that keeps failing does not reset anyone's count", async t => {
  const { counters, limiter, second } = setUp(t)
  counters.mode = 'fail'
  let allowed = 0
  for (let i = 0; i < 10; i++) {
    for (let j = 0; j < 2; j++) if ((await limiter.spend(five, 'key')).isAllowed) allowed++
    await second()
  }
  assert.equal(allowed, 5)
})
