import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mapInTurns } from '../../../src/base/turns/map-in-turns.ts'

test('what is made is in the order of the items, and others have turns between', async () => {
  let turns = 0
  const count = () => {
    turns++
    beat = setImmediate(count)
  }
  let beat = setImmediate(count)
  const items = Array.from({ length: 1_000 }, (_, i) => i)
  const made = await mapInTurns(items, async item => item * 2)
  clearImmediate(beat)
  assert.deepEqual(
    made,
    items.map(item => item * 2),
  )
  assert.ok(turns >= 19, `${turns} turns`)
})

test('an empty list gives an empty result, and one failure fails all', async () => {
  assert.deepEqual(await mapInTurns([], async item => item), [])
  const failing = async () => Promise.reject(new Error('failed'))
  await assert.rejects(mapInTurns([1], failing), /failed/)
})
