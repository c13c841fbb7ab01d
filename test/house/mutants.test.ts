// The list of mutations keeps up with the source: each can still be made.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allMutations } from '../mutants/all.ts'
import { staleness } from '../mutants/mutation.ts'

test('every known mutation can still be made; where code changed, mend its text in test/mutants, or remove it', () => {
  assert.deepEqual(
    allMutations.map(staleness).filter(reason => reason !== null),
    [],
  )
})

test('there are enough of them, and none comes twice', () => {
  assert.ok(allMutations.length >= 200, `${allMutations.length}`)
  const names = allMutations.map(({ file, text, becomes }) => JSON.stringify([file, text, becomes]))
  assert.equal(new Set(names).size, names.length)
})
