import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyFailure } from '../../../src/edge/cloud-keys/key-call.ts'
import { MadeKey } from '../../../src/edge/cloud-keys/made-key.ts'
import { ManualClock } from '../../help/clock.ts'

const hour = 3_600_000

/** A key that is made as the test says, call by call. */
function start() {
  const clock = new ManualClock()
  const calls: PromiseWithResolvers<{ value: string; lifetime: number }>[] = []
  const changes: (string | null)[] = []
  const key = new MadeKey({
    clock,
    changed: reason => changes.push(reason),
    mint: () => {
      const call = Promise.withResolvers<{ value: string; lifetime: number }>()
      calls.push(call)
      return call.promise
    },
  })
  return { clock, calls, changes, key }
}

test('calls that come while a key is made share it', async () => {
  const { calls, key, clock } = start()
  const waiting = [key.ensure(), key.ensure(), key.ensure()]
  assert.equal(calls.length, 1)
  calls[0]!.resolve({ value: 'one', lifetime: hour })
  assert.deepEqual(await Promise.all(waiting), [null, null, null])
  assert.equal(key.value, 'one')
  clock.advance(hour / 2)
  assert.equal(key.ensure(), null)
  assert.equal(calls.length, 1)
})

test('a key is renewed before it expires, while calls go on with it', async () => {
  const { calls, key, clock, changes } = start()
  const first = key.ensure()
  calls[0]!.resolve({ value: 'one', lifetime: hour })
  await first
  clock.advance(0.85 * hour)
  assert.equal(key.ensure(), null)
  assert.equal(key.ensure(), null)
  assert.equal(calls.length, 2)
  assert.equal(key.value, 'one')
  calls[1]!.resolve({ value: 'two', lifetime: hour })
  await new Promise(setImmediate)
  assert.equal(key.value, 'two')
  clock.advance(0.5 * hour)
  assert.equal(key.ensure(), null)
  assert.deepEqual(changes, [])
})

test('a renewal that fails leaves the old key until that expires, and then calls fail', async () => {
  const { calls, key, clock, changes } = start()
  const first = key.ensure()
  calls[0]!.resolve({ value: 'one', lifetime: hour })
  await first
  clock.advance(0.85 * hour)
  assert.equal(key.ensure(), null)
  calls[1]!.reject(new KeyFailure('login.test responded 503'))
  await new Promise(setImmediate)
  assert.deepEqual([key.ensure(), key.value, key.failure], [null, 'one', 'login.test responded 503'])
  assert.equal(calls.length, 2)
  clock.advance(0.2 * hour)
  const late = key.ensure()
  assert.equal(calls.length, 3)
  calls[2]!.reject(new KeyFailure('login.test responded 503'))
  assert.equal(await late, 'login.test responded 503')
  assert.equal(key.ensure(), 'login.test responded 503')
  assert.equal(calls.length, 3)
  clock.advance(key.wait)
  const back = key.ensure()
  calls[3]!.resolve({ value: 'two', lifetime: hour })
  assert.equal(await back, null)
  assert.deepEqual(changes, ['login.test responded 503', null])
})

test('pauses between attempts double up to a minute, and are as long as the service says', async () => {
  const { calls, key, clock } = start()
  const waits: number[] = []
  for (let i = 0; i < 9; i++) {
    const call = key.ensure()
    calls[i]!.reject(new KeyFailure('no', i === 8 ? 120_000 : 0))
    await call
    waits.push(key.wait)
    clock.advance(key.wait)
  }
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000, 120000])
})

test('a key that its provider refuses is replaced, but not again and again', async () => {
  const { calls, key, clock } = start()
  const first = key.ensure()
  calls[0]!.resolve({ value: 'one', lifetime: hour })
  await first
  assert.equal(key.drop(), false)
  clock.advance(60_000)
  assert.equal(key.drop(), true)
  const second = key.ensure()
  assert.equal(key.drop(), false)
  calls[1]!.resolve({ value: 'two', lifetime: hour })
  assert.equal(await second, null)
  assert.deepEqual([key.value, key.drop()], ['two', false])
})

test('a metadata service that hands out the same key again is not asked for it all the time', async () => {
  const { calls, key, clock } = start()
  const first = key.ensure()
  calls[0]!.resolve({ value: 'one', lifetime: 60_000 })
  await first
  clock.advance(48_000)
  key.ensure()
  calls[1]!.resolve({ value: 'one', lifetime: 12_000 })
  await new Promise(setImmediate)
  clock.advance(9_000)
  assert.equal(key.ensure(), null)
  assert.equal(calls.length, 2)
})
