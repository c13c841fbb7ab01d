import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Answer } from '../../src/answers/answer.ts'
import { answerBoundsOf } from '../../src/answers/answer-bounds.ts'
import { AnswerCache } from '../../src/answers/answer-cache.ts'
import { AnswerRoom } from '../../src/answers/answer-room.ts'
import type { Clock } from '../../src/base/clock.ts'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import { EdgeMetrics } from '../../src/metrics/counters/edge-metrics.ts'
import { StoreUnreachable } from '../../src/store/contract/store.ts'
import { openStore } from '../../src/store/open.ts'
import { secrets } from '../help/ai.ts'
import { ManualClock } from '../help/clock.ts'
import { gateway } from '../store/contract-specimens.ts'

const MiB = 2 ** 20
const usual = { response: 10 * MiB, gateway: 256 * MiB, total: 1024 * MiB, memory: 32 * MiB }

function answerOf(clock: Clock, bytes: number): Answer {
  const storedAt = clock.now()
  return {
    head: {
      ...{ status: 200, reason: 'OK', fields: [] },
      ...{ contentType: 'text/plain', isEventStream: false, isEncoded: false },
    },
    use: { tokensIn: 1, tokensOut: 1, cost: 0 },
    ...{ storedAt, expiresAt: storedAt + 3_600_000, body: Buffer.alloc(bytes) },
  }
}

interface Settings {
  readonly room?: AnswerRoom
  bounds: typeof usual
  keys: SecretKeys | null
}

/** A cache of a gateway with its store, and how to name places in it. */
async function start(t: TestContext, more: Partial<Settings> = {}) {
  const settings: Settings = { bounds: usual, keys: secrets, ...more }
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  const clock = new ManualClock(Date.now())
  const lines: unknown[] = []
  const another = () => {
    const metrics = new EdgeMetrics().answers
    const cache = new AnswerCache({
      ...{ store, secrets: () => settings.keys, clock, metrics },
      warnings: { warn: (kind: string) => void lines.push(kind) },
      bounds: () => answerBoundsOf(settings.bounds),
      memory: () => settings.bounds.memory,
      ...(settings.room && { room: settings.room }),
    })
    t.after(() => cache.close())
    return { cache, metrics }
  }
  t.after(() => store.close())
  const home = gateway()
  await store.gateways.insert(home)
  const place = (key: string) => ({ account: home.account, gateway: home.id, key })
  return { ...another(), another, store, clock, settings, lines, place }
}

test('other bounds apply from the next response on', async t => {
  const { cache, settings, clock, place } = await start(t)
  assert.equal(await cache.keep(place('large'), answerOf(clock, 2 * MiB)), true)
  assert.equal(cache.inMemory(place('large'), 60)?.body.length, 2 * MiB)
  settings.bounds = { ...usual, response: MiB, memory: MiB }
  assert.equal(await cache.keep(place('later'), answerOf(clock, 2 * MiB)), false)
  assert.equal(cache.inMemory(place('later'), 60), null)
  assert.equal(cache.inMemory(place('large'), 60), null)
  assert.equal((await cache.inStore(place('large'), 60))?.body.length, 2 * MiB)
  // An eighth of the memory is the most for one.
  assert.equal(cache.inMemory(place('large'), 60), null)
  cache.put(place('small'), answerOf(clock, MiB / 16))
  assert.notEqual(cache.inMemory(place('small'), 60), null)
})

test('a response is reused for as long as the call says, and no longer than its own says', async t => {
  const { cache, another, clock, place } = await start(t)
  cache.put(place('k'), { ...answerOf(clock, 10), expiresAt: clock.now() + 100_000 })
  await cache.close()
  const found = async (ttl: number) => {
    const stored = await another().cache.inStore(place('k'), ttl)
    const inMemory = cache.inMemory(place('k'), ttl)
    assert.deepEqual(stored?.body, inMemory?.body)
    return inMemory !== null
  }
  clock.advance(59_999)
  assert.equal(await found(60), true)
  clock.advance(1)
  assert.deepEqual([await found(60), await found(61)], [false, true])
  clock.advance(39_999)
  assert.equal(await found(1_000), true)
  clock.advance(1)
  assert.equal(await found(1_000), false)
})

test('what was read from the store is in memory from then on', async t => {
  const { cache, another, clock, place } = await start(t)
  assert.equal(await cache.keep(place('k'), answerOf(clock, 10)), true)
  const other = another()
  assert.equal(other.cache.inMemory(place('k'), 60), null)
  assert.deepEqual(other.metrics.memory!(), { bytes: 0, entries: 0 })
  assert.notEqual(await other.cache.inStore(place('k'), 60), null)
  assert.notEqual(other.cache.inMemory(place('k'), 60), null)
  assert.deepEqual(other.metrics.memory!(), { bytes: 10 + 1_024, entries: 1 })
  assert.equal(await other.cache.inStore(place('none'), 60), null)
  assert.equal(other.metrics.unreadable.value, 0)
})

test('without secret keys nothing is stored, and under others nothing is readable', async t => {
  const { cache, metrics, another, clock, settings, place } = await start(t)
  const key = cache.keyOf(['a'], [])
  assert.equal(await cache.keep(place('k'), answerOf(clock, 10)), true)
  settings.keys = null
  assert.equal(cache.isReady, false)
  cache.put(place('l'), answerOf(clock, 10))
  assert.equal(await cache.keep(place('m'), answerOf(clock, 10)), false)
  assert.equal(await another().cache.inStore(place('k'), 60), null)
  assert.deepEqual([cache.inMemory(place('l'), 60), cache.inMemory(place('m'), 60)], [null, null])
  settings.keys = new SecretKeys(Buffer.alloc(32, 2))
  assert.equal(cache.isReady, true)
  assert.notEqual(cache.keyOf(['a'], []), key)
  assert.equal(await cache.inStore(place('k'), 60), null)
  assert.equal(metrics.unreadable.value, 1)
})

test('a store that fails costs the reuse and nothing else, and is counted', async t => {
  const { cache, metrics, clock, store, lines, place } = await start(t)
  for (const method of ['read', 'write'] as const)
    t.mock.method(store.answers, method, async () => {
      throw new StoreUnreachable()
    })
  assert.equal(await cache.inStore(place('k'), 60), null)
  assert.equal(await cache.keep(place('k'), answerOf(clock, 10)), false)
  assert.equal(cache.inMemory(place('k'), 60), null)
  assert.deepEqual(lines, ['read', 'write'])
  assert.deepEqual([metrics.failedReads.value, metrics.writes.failed.value], [1, 1])
  assert.equal(metrics.held!(), 0)
})

test('beyond 200 responses on their way to the store, or half of the room, no more are stored', async t => {
  const { cache, metrics, clock, store, place } = await start(t, { room: new AnswerRoom(2 * MiB) })
  const { promise, resolve } = Promise.withResolvers<void>()
  const { write } = store.answers
  t.mock.method(store.answers, 'write', async (...args: Parameters<typeof write>) => {
    await promise
    return write.apply(store.answers, args)
  })
  for (let i = 0; i < 201; i++) cache.put(place(`k${i}`), answerOf(clock, 10))
  assert.equal(metrics.writes.dropped.value, 1)
  assert.ok(metrics.held!() > 2_000)
  resolve()
  await cache.close()
  assert.deepEqual([metrics.writes.stored.value, metrics.held!()], [200, 0])
  cache.put(place('large'), answerOf(clock, MiB))
  cache.put(place('another'), answerOf(clock, 10))
  assert.equal(metrics.writes.dropped.value, 2)
  // This process has it all the same.
  assert.notEqual(cache.inMemory(place('another'), 60), null)
  await cache.close()
  assert.equal(metrics.writes.stored.value, 201)
})

test('a call on its way is joined until it is over, and gives way to the next of its kind', async t => {
  const { cache, place } = await start(t)
  const first = cache.begin(place('k'))
  assert.equal(cache.flight('k'), first)
  assert.equal(cache.flight('l'), null)
  const second = cache.begin(place('k'))
  first.fail(false)
  assert.equal(cache.flight('k'), second)
  second.fail(false)
  assert.equal(cache.flight('k'), null)
})
