import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Key, KeyRing } from '../../../src/ai/providers/key-ring.ts'

const placesOf = (ring: KeyRing, now: number, count = 4) =>
  Array.from({ length: count }, () => placeOf(ring, ring.next(now)))

const placeOf = (ring: KeyRing, key: Key | null) => key && ring.placeOf(key)

test('keys are used in turn, and none where there are none', () => {
  assert.deepEqual(placesOf(new KeyRing(['a', 'b', 'c']), 0), [1, 2, 3, 1])
  assert.equal(new KeyRing([]).next(0), null)
  assert.equal(new KeyRing(['a']).next(0)!.value, 'a')
})

test('a key rests as long as the provider says, and others are used', () => {
  const ring = new KeyRing(['a', 'b', 'c'])
  const key = ring.next(1000)!
  assert.equal(ring.setAside(key, 1000, 7000), 7000)
  assert.deepEqual(placesOf(ring, 1000), [2, 3, 2, 3])
  assert.deepEqual(placesOf(ring, 7999), [2, 3, 2, 3])
  assert.equal(ring.firstBack(1000), null)
  assert.deepEqual(placesOf(ring, 8000, 3).toSorted(), [1, 2, 3])
})

test('without a retry time it rests twice as long each time, up to five minutes, until it works', () => {
  const ring = new KeyRing(['a', 'b'])
  const key = ring.next(0)!
  const rests: number[] = []
  for (let now = 0; rests.length < 12; now = key.restsUntil) rests.push(ring.setAside(key, now, null))
  assert.deepEqual(rests.slice(0, 4), [1000, 2000, 4000, 8000])
  assert.deepEqual(rests.slice(-3), [300_000, 300_000, 300_000])
  ring.worked(key, 0)
  assert.equal(ring.setAside(key, key.restsUntil, null), 1000)
})

test('concurrent calls make it rest only once', () => {
  const ring = new KeyRing(['a', 'b'])
  const key = ring.next(0)!
  assert.deepEqual([ring.setAside(key, 0, null), ring.setAside(key, 10, null)], [1000, 0])
  assert.equal(key.restsUntil, 1000)
  assert.equal(ring.setAside(key, 20, 60_000), 0)
  assert.equal(key.restsUntil, 60_020)
  assert.equal(ring.setAside(key, 30, 5000), 0)
  assert.equal(key.restsUntil, 60_020)
})

test('the wait is that of the key that is back first, as its provider said it', () => {
  const ring = new KeyRing(['a', 'b', 'c'])
  const day = 86_400_000
  const [a, b] = [ring.next(0)!, ring.next(0)!]
  ring.setAside(a, 0, 1e15, ['x', '1'])
  ring.setAside(b, 0, 3 * day, ['x', '2'])
  assert.equal(ring.firstBack(0), null)
  ring.setAside(ring.next(0)!, 0, 9000, ['x', '3'])
  assert.deepEqual([ring.firstBack(2000)!.saidUntil, ring.firstBack(2000)!.limits], [9000, ['x', '3']])
  assert.equal(placeOf(ring, ring.next(2000)), 3)
  assert.equal(ring.firstBack(9000), null)
  ring.setAside(ring.next(9000)!, 9000, 7 * day)
  assert.deepEqual([ring.firstBack(9000)!.saidUntil, ring.firstBack(9000)!.limits], [3 * day, ['x', '2']])
  // A wrong time does not disable a key for good.
  assert.equal(ring.firstBack(day), null)
  assert.deepEqual(placesOf(ring, day, 2).toSorted(), [1, 2])
})

test('a key that stays keeps its state in a new ring, including later updates', () => {
  const before = new KeyRing(['a', 'b', 'c'])
  const [a, b] = [before.next(0)!, before.next(0)!]
  before.setAside(a, 0, 9000)
  const ring = new KeyRing(['d', 'b', 'a'], before)
  assert.deepEqual(placesOf(ring, 0), [1, 2, 1, 2])
  before.setAside(b, 0, 9000)
  assert.deepEqual(placesOf(ring, 0), [1, 1, 1, 1])
  assert.deepEqual([before.placeOf(a), ring.placeOf(a), ring.placeOf(b)], [1, 3, 2])
})

test('a call gets no key that it has tried, and all others are used in turn', () => {
  const ring = new KeyRing(['a', 'b', 'c'])
  const [a, b] = [ring.next(0)!, ring.next(0)!]
  assert.equal(placeOf(ring, ring.next(0, [a, b])), 3)
  assert.equal(ring.hasAnother(0, [a, b]), true)
  ring.setAside(ring.next(0, [a, b])!, 0, 5000)
  assert.equal(ring.hasAnother(0, [a, b]), false)
  assert.deepEqual(placesOf(ring, 0), [1, 2, 1, 2])
})

test('a key is trusted for ten minutes from when it worked, until it is refused', () => {
  const ring = new KeyRing(['a'])
  const key = ring.next(0)!
  assert.equal(ring.isTrusted(key, 0), false)
  ring.worked(key, 1000)
  assert.deepEqual([ring.isTrusted(key, 600_999), ring.isTrusted(key, 601_000)], [true, false])
  ring.setAside(key, 2000, null)
  assert.equal(ring.isTrusted(key, 2000), true)
  ring.refused(key)
  assert.equal(ring.isTrusted(key, 2000), false)
})
