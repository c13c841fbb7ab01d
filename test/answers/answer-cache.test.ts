import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from '../../src/answers/answer.ts'
import { answerBoundsOf } from '../../src/answers/answer-bounds.ts'
import { AnswerCache } from '../../src/answers/answer-cache.ts'
import { systemClock } from '../../src/base/clock.ts'
import { EdgeMetrics } from '../../src/metrics/counters/edge-metrics.ts'
import { openStore } from '../../src/store/open.ts'
import { secrets } from '../help/ai.ts'
import { gateway } from '../store/contract-specimens.ts'

const MiB = 2 ** 20
const usual = { response: 10 * MiB, gateway: 256 * MiB, total: 1024 * MiB, memory: 32 * MiB }

function answerOf(bytes: number): Answer {
  const storedAt = systemClock.now()
  return {
    head: {
      ...{ status: 200, reason: 'OK', fields: [] },
      ...{ contentType: 'text/plain', isEventStream: false, isEncoded: false },
    },
    use: { tokensIn: 1, tokensOut: 1, cost: 0 },
    ...{ storedAt, expiresAt: storedAt + 3_600_000, body: Buffer.alloc(bytes) },
  }
}

test('other bounds apply from the next response on', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  let settings = usual
  const metrics = new EdgeMetrics().answers
  const cache = new AnswerCache({
    ...{ store, secrets: () => secrets, clock: systemClock, metrics, warnings: { warn: () => {} } },
    bounds: () => answerBoundsOf(settings),
    memory: () => settings.memory,
  })
  t.after(async () => {
    await cache.close()
    await store.close()
  })
  const home = gateway()
  await store.gateways.insert(home)
  const place = (key: string) => ({ account: home.account, gateway: home.id, key })
  assert.equal(await cache.keep(place('large'), answerOf(2 * MiB)), true)
  assert.equal(cache.inMemory(place('large'), 60)?.body.length, 2 * MiB)
  settings = { ...usual, response: MiB, memory: MiB }
  assert.equal(await cache.keep(place('later'), answerOf(2 * MiB)), false)
  assert.equal(cache.inMemory(place('large'), 60), null)
  assert.equal((await cache.inStore(place('large'), 60))?.body.length, 2 * MiB)
  // An eighth of the memory is the most for one.
  assert.equal(cache.inMemory(place('large'), 60), null)
  cache.put(place('small'), answerOf(MiB / 16))
  assert.notEqual(cache.inMemory(place('small'), 60), null)
})
