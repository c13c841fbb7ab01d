import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EdgeMetrics } from '../../../src/metrics/counters/edge-metrics.ts'
import type { Exchange } from '../../../src/edge/exchange/exchange.ts'
import { people } from '../../../src/errors/audience/people.ts'
import { meter } from '../../../src/edge/meter/meter.ts'
import { compileRateLimits } from '../../../src/edge/snapshot/limit-rules.ts'
import { systemClock } from '../../../src/base/clock.ts'
import type { Spent } from '../../../src/limits/key-count.ts'
import { TallyBook } from '../../../src/activity/tally-book.ts'

const metrics = new EdgeMetrics()

/** Makes an exchange that meets so many limits, each of which has to ask the store; `refused` is the index of one that is over. */
function exchange(count: number, refused = -1) {
  const limits = compileRateLimits(
    Array.from({ length: count }, (_, i) => ({
      name: `limit-${i}`,
      limit: 10,
      period: 1000,
      key: [],
      when: null,
      action: 'block',
    })),
    metrics,
  )
  const asked: number[] = []
  const given: string[] = []
  let turn = 0
  const limiter = {
    async spend({ name }: { readonly name: string }): Promise<Spent> {
      asked[turn] = (asked[turn] ?? 0) + 1
      return { isAllowed: !name.endsWith(`limit-${refused}`), remaining: 1, wait: 1000 }
    },
    giveBack: ({ name }: { readonly name: string }) => given.push(name),
  }
  const x = {
    plane: { limiter, metrics, tallies: new TallyBook(systemClock, () => {}) },
    route: { limits },
    head: { fields: [] },
    clientAddress: '192.0.2.1',
  }
  const none = { ai: null, zone: null, audience: people, keyParts: null, addedLines: '' }
  const count1 = () => {
    turn++
    if (turn < 1000) setImmediate(count1)
  }
  setImmediate(count1)
  const noted: string[] = []
  const access = { note: (address: string) => noted.push(address) }
  return { x: { ...x, ...none, snapshot: { access } } as unknown as Exchange, asked, given, noted }
}

test('a request that is near many limits asks the store a few at a turn, and meets them all', async () => {
  const { x, asked } = exchange(100)
  assert.equal(await meter(x), null)
  const turns = asked.filter(count => count > 0)
  assert.equal(
    turns.reduce((sum, count) => sum + count, 0),
    100,
  )
  assert.ok(Math.max(...turns) <= 8, `${Math.max(...turns)} in one turn`)
  assert.equal(x.addedLines.match(/limit-\d+/g)?.length, 101)
})

test('what refuses a request ends the questions, and is given back to the limits before it', async () => {
  const { x, asked, given, noted } = exchange(100, 12)
  const refusal = await meter(x)
  assert.equal(refusal?.error, 'rate_limited')
  assert.equal(
    asked.reduce((sum, count) => sum + count, 0),
    16,
  )
  assert.equal(given.length, 15)
  assert.deepEqual(noted, ['192.0.2.1'])
})
