import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inTime } from '../../../src/base/turns/in-time.ts'

const late = () => 'late'

test('a result in time is returned as it is, and so is a failure', async () => {
  assert.equal(await inTime(Promise.resolve('answer'), 60_000, late), 'answer')
  await assert.rejects(inTime(Promise.reject(new Error('failed')), 60_000, late), /failed/)
})

test('a result that does not come is replaced', async () => {
  const { promise } = Promise.withResolvers<string>()
  assert.equal(await inTime(promise, 1, late), 'late')
  const tooLate = () => {
    throw new Error('too late')
  }
  await assert.rejects(inTime(promise, 1, tooLate), /too late/)
})

test('a result that comes late, or fails late, troubles nobody', async () => {
  const { promise, reject } = Promise.withResolvers<string>()
  assert.equal(await inTime(promise, 1, late), 'late')
  reject(new Error('failed late'))
  await new Promise(resolve => setImmediate(resolve))
})

test('a result is waited for behind a pause in which neither this process nor its peer ran', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const answer = inTime(promise, 80, late)
  for (const end = performance.now() + 100; performance.now() < end; );
  for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate)
  resolve('answer')
  assert.equal(await answer, 'answer')
})

test('a result that came while this process was busy is in time', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const answer = inTime(promise, 1, late)
  setImmediate(() => resolve('answer'))
  for (const end = performance.now() + 20; performance.now() < end; );
  assert.equal(await answer, 'answer')
})
