import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyRing } from '../../src/ai/key-ring.ts'

const placesOf = (ring: KeyRing, now: number, count = 4) =>
  Array.from({ length: count }, () => ring.next(now)?.place ?? null)

test('keys are given in turn, and none where there are none', () => {
  assert.deepEqual(placesOf(new KeyRing(['a', 'b', 'c']), 0), [1, 2, 3, 1])
  assert.equal(new KeyRing([]).next(0), null)
  assert.equal(new KeyRing(['a']).next(0)!.value, 'a')
})

test('a key rests as long as the provider says, and others go on', () => {
  const ring = new KeyRing(['a', 'b', 'c'])
  const key = ring.next(1000)!
  assert.equal(ring.setAside(key, 1000, 7000), 7000)
  assert.deepEqual(placesOf(ring, 1000), [2, 3, 2, 3])
  assert.deepEqual(placesOf(ring, 7999), [2, 3, 2, 3])
  assert.equal(ring.wait(1000), 0)
  assert.deepEqual(placesOf(ring, 8000, 3).toSorted(), [1, 2, 3])
})

test('without a word it rests twice as long each time, up to five minutes, until it works', () => {
  const ring = new KeyRing(['a', 'b'])
  const key = ring.next(0)!
  const rests: number[] = []
  for (let now = 0; rests.length < 12; now = key.restsUntil) rests.push(ring.setAside(key, now, null))
  assert.deepEqual(rests.slice(0, 4), [1000, 2000, 4000, 8000])
  assert.deepEqual(rests.slice(-3), [300_000, 300_000, 300_000])
  ring.worked(key)
  assert.equal(ring.setAside(key, key.restsUntil, null), 1000)
})

test('calls that were under way together make it rest once', () => {
  const ring = new KeyRing(['a', 'b'])
  const key = ring.next(0)!
  assert.deepEqual([ring.setAside(key, 0, null), ring.setAside(key, 10, null)], [1000, 0])
  assert.equal(ring.setAside(key, 20, 60_000), 0)
  assert.equal(key.restsUntil, 60_020)
  assert.equal(ring.setAside(key, 30, 5000), 0)
  assert.equal(key.restsUntil, 60_020)
})

test('the wait is that for the first key to be back, and a wrong word is no end of a key', () => {
  const ring = new KeyRing(['a', 'b'])
  ring.setAside(ring.next(0)!, 0, 1e15)
  ring.setAside(ring.next(0)!, 0, 9000)
  assert.equal(ring.wait(2000), 7000)
  assert.equal(ring.next(2000)!.place, 2)
  assert.equal(ring.wait(9000), 0)
  assert.deepEqual(placesOf(ring, 86_400_000, 2).toSorted(), [1, 2])
})
