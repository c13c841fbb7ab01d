import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { KeySketch, RecentMisses } from '../../../src/store/cache/recent-misses.ts'

const key = fc.stringMatching(/^[ab]{0,12}$/)

test('a miss is known until another takes its place, and no other key passes for it', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ key, until: fc.integer() })), key, (notes, asked) => {
      const misses = new RecentMisses(8)
      for (const { key, until } of notes) misses.note(key, until)
      const last = notes.findLast(note => note.key === asked)
      const until = misses.until(asked)
      assert.ok(until === Number.NEGATIVE_INFINITY || until === last?.until)
      assert.equal(misses.until(notes.at(-1)?.key ?? ''), notes.at(-1)?.until ?? Number.NEGATIVE_INFINITY)
      for (const again of [false, true]) {
        if (again) misses.note(asked, 1)
        misses.clear()
        assert.equal(misses.until(asked), Number.NEGATIVE_INFINITY)
      }
    }),
  )
})

test('keys that begin or end alike have places of their own', () => {
  const misses = new RecentMisses(1 << 14)
  const account = '0123456789abcdef0123456789abcdef'
  const keys = Array.from({ length: 100 }, (_, i) => `${account}/gateway-${i}`)
  for (const key of keys) misses.note(key, 1)
  assert.ok(keys.filter(key => misses.until(key) === 1).length >= 95)
})

test('a sketch never denies a key that was added and not removed', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.boolean())), steps => {
      const [sketch, kept] = [new KeySketch(8), new Set<string>()]
      for (const [key, isAdded] of steps) {
        if (isAdded && !kept.has(key)) sketch.add(key)
        if (!isAdded && kept.has(key)) sketch.remove(key)
        if (isAdded) kept.add(key)
        else kept.delete(key)
        assert.ok([...kept].every(one => sketch.mayHave(one)))
      }
      for (const key of kept) sketch.remove(key)
      assert.ok(steps.every(([key]) => !sketch.mayHave(key)))
    }),
  )
})
