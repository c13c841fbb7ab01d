// Floods of keys that are new: what the store hears of them, and what holds for the others.

import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { LimitMetrics } from '../../src/metrics/counters/limit-metrics.ts'
import { createLogger } from '../../src/log/log.ts'
import { Limiter } from '../../src/limits/limiter.ts'
import { type Limit, limitOf } from '../../src/limits/limit.ts'
import { NewKeys } from '../../src/limits/new-keys.ts'
import { ManualClock } from '../help/clock.ts'
import { SteeredCounters } from './steered-counters.ts'

const day = { kind: 'sliding', period: 86_400_000 } as const
const five = limitOf('five', 5, day)
const million = limitOf('million', 1_000_000, day)

function setUp() {
  const clock = new ManualClock()
  const counters = new SteeredCounters()
  const metrics = new LimitMetrics()
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: (line: string) => lines.push(JSON.parse(line)) })
  const limiter = new Limiter({ clock, counters, metrics, log })
  const flood = async (limit: Limit, many: number) => {
    for (let i = 0; i < many; i++) await limiter.spend(limit, `key ${i}`)
  }
  const spendAll = async (key: string) => {
    let allowed = 0
    for (let i = 0; i < 9; i++) if ((await limiter.spend(five, key)).isAllowed) allowed++
    return allowed
  }
  const told = () => new Set(counters.asks.map(({ key }) => key)).size
  return { clock, counters, metrics, lines, limiter, flood, spendAll, told }
}

test('at most a thousand new keys of a limit a second are reported to the store; others are counted locally', async () => {
  const { clock, counters, metrics, lines, limiter, flood, spendAll, told } = setUp()
  await flood(five, 3_000)
  assert.equal(told(), 1_000)
  assert.equal(metrics.fallbacks.value, 2_000)
  assert.deepEqual(
    lines.map(({ limit }) => limit),
    [five.name],
  )
  assert.equal(await spendAll('key 2999'), 4)
  limiter.giveBack(five, 'key 2997')
  assert.equal(await spendAll('key 999'), 4)
  assert.equal((await limiter.spend(limitOf('other', 5, day), 'key')).remaining, 4)
  assert.equal(told(), 1_001)
  clock.advance(1_000)
  assert.equal(await spendAll('key 2999'), 0, 'over its limit until its own window has moved on')
  assert.equal((await limiter.spend(five, 'key 2998')).remaining, 3)
  assert.equal(counters.asks.at(-1)!.done, 1)
})

test('far from a limit, too, and when keys are forgotten or the process ends', async () => {
  const { limiter, flood, told } = setUp()
  await flood(million, 60_000)
  await turn()
  await limiter.close()
  assert.equal(told(), 1_000)
})

test('a process reports at most a million keys in a period', () => {
  const keys = new NewKeys()
  let taken = 0
  for (let second = 0; second < 1_200; second++)
    for (let i = 0; i < 1_001; i++) if (keys.take(million, second * 1_000)) taken++
  assert.equal(taken, 1_000_000)
  assert.equal(keys.take(million, day.period - 1), false)
  assert.equal(keys.take(million, day.period), true)
})
