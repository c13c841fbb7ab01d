// Limits while Redis dies, hangs and comes back: no request waits for it, and counting goes on.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/base/clock.ts'
import { LimitMetrics } from '../../src/metrics/limit-metrics.ts'
import { Limiter } from '../../src/limits/limiter.ts'
import { limitOf } from '../../src/limits/limit.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'
import { openRedis } from '../store/redis/open.ts'

const period = 2_000
const limit = limitOf('shared', 40, { kind: 'sliding', period })
/** Ms that a decision may take at the most: what the store is waited for, and a busy machine. */
const bearable = 400

async function setUp(t: TestContext) {
  const server = await startRedis(t, { aof: 'everysec' })
  const store = await openRedis(t, server.url)
  const metrics = new LimitMetrics()
  const limiter = new Limiter({ clock: systemClock, counters: store.counters, metrics })
  const admitted: number[] = []
  let longest = 0
  /** Asks every few ms, at ten times the limit. */
  const flood = async (ms: number) => {
    for (const end = performance.now() + ms; performance.now() < end; await sleep(5)) {
      const began = performance.now()
      if ((await limiter.spend(limit, 'key')).isAllowed) admitted.push(began)
      longest = Math.max(longest, performance.now() - began)
    }
  }
  const within = () => {
    let most = 0
    for (const [i, time] of admitted.entries())
      most = Math.max(most, admitted.slice(i).filter(at => at - time < period).length)
    return most
  }
  return { server, metrics, store, flood, admitted, within, longest: () => longest }
}

for (const [what, strike, heal] of [
  ['dies', 'kill', 'restart'],
  ['hangs', 'stop', 'cont'],
] as const) {
  test(`when Redis ${what} counting goes on, and is shared again when it is back`, async t => {
    const { server, metrics, store, flood, admitted, within, longest } = await setUp(t)
    await flood(1_000)
    assert.equal(metrics.fallbacks.value, 0)
    await server[strike]()
    await flood(2.5 * period)
    const alone = metrics.fallbacks.value
    assert.ok(alone > 0)
    assert.ok(admitted.length >= 2 * limit.most, `${admitted.length}`)
    await server[heal]()
    await until(() => !store.counters.isAway)
    const calls = metrics.storeCalls.value
    await flood(period)
    assert.ok(metrics.storeCalls.value > calls)
    assert.ok(longest() < bearable, `${longest()} ms`)
    // When it goes away nobody knows how what it counted was spread.
    assert.ok(within() <= 1.25 * limit.most, `${within()} within one period`)
  })
}
