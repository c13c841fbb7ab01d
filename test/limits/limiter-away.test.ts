// Limits while Redis dies, hangs and comes back: no request waits for it, and counting goes on.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/base/clock.ts'
import { LimitMetrics } from '../../src/metrics/counters/limit-metrics.ts'
import { Limiter } from '../../src/limits/limiter.ts'
import { limitOf } from '../../src/limits/limit.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'
import { openRedis } from '../store/redis/open.ts'

const period = 2_000
const limit = limitOf('shared', 40, { kind: 'sliding', period })
/** Ms that one waits for the store: longer than a busy machine keeps anybody waiting. */
const timeout = 1_000

async function setUp(t: TestContext) {
  const server = await startRedis(t, { aof: 'everysec' })
  const store = await openRedis(t, server.url)
  const metrics = new LimitMetrics()
  const limiter = new Limiter({ clock: systemClock, counters: store.counters, metrics, timeout })
  /** When each was asked for, and when it was let in. */
  const admitted: (readonly [asked: number, at: number])[] = []
  /** Asks every few ms, at ten times the limit, and returns how many had to wait. */
  const flood = async (ms: number) => {
    let waits = 0
    for (const end = performance.now() + ms; performance.now() < end; await sleep(5)) {
      const began = performance.now()
      const spent = limiter.spend(limit, 'key')
      if (spent instanceof Promise) waits++
      if ((await spent).isAllowed) admitted.push([began, performance.now()])
    }
    return waits
  }
  const within = () => {
    let most = 0
    for (const [i, [begin]] of admitted.entries())
      most = Math.max(most, admitted.slice(i).filter(([, at]) => at < begin + period).length)
    return most
  }
  return { server, metrics, store, flood, admitted, within }
}

for (const [what, strike, heal] of [
  ['dies', 'kill', 'restart'],
  ['hangs', 'stop', 'cont'],
] as const) {
  test(`when Redis ${what} counting goes on, and is shared again when it is back`, async t => {
    const { server, metrics, store, flood, admitted, within } = await setUp(t)
    await flood(1_000)
    assert.equal(metrics.fallbacks.value, 0)
    await server[strike]()
    const waits = await flood(2.5 * period)
    t.diagnostic(`${waits} waited`)
    assert.ok(waits <= 2, `${waits} waited for a store that is away`)
    const alone = metrics.fallbacks.value
    assert.ok(alone > 0)
    assert.ok(admitted.length >= 2 * limit.max, `${admitted.length}`)
    await server[heal]()
    await until(() => !store.counters.isUnreachable)
    const calls = metrics.storeCalls.value
    await flood(period)
    // It asks near the limit only, to which a busy machine takes longer.
    await until(async () => {
      await flood(100)
      return metrics.storeCalls.value > calls
    })
    // When it goes away nobody knows how what it counted was spread over the period before, which on a busy machine is in bursts: less than a new allowance goes on.
    assert.ok(within() < 2 * limit.max, `${within()} within one period`)
  })
}
