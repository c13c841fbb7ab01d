// The tables of errors have no dead rows, and their numbers are written nowhere else.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiFaults } from '../../src/errors/catalogue/api-faults.ts'
import { errorRows, isRaised } from '../../src/errors/catalogue/catalogue.ts'
import { sourceFiles } from '../help/source.ts'

/** Returns the names that a file other than the table itself has in quotes. */
function namesUsed(table: object, home: string): readonly string[] {
  const others = sourceFiles().filter(({ path }) => path !== home)
  return Object.keys(table).filter(name => others.some(({ text }) => text.includes(`'${name}'`)))
}

test('the code raises every error of the catalogue, and none of those for previews only', () => {
  const raised = namesUsed(errorRows, 'errors/catalogue/catalogue.ts')
  assert.deepEqual(raised, Object.keys(errorRows).filter(isRaised))
})

test('every fault of the API is used by a refusal', () => {
  assert.deepEqual(Object.keys(apiFaults), namesUsed(apiFaults, 'errors/catalogue/api-faults.ts'))
})

test('the numbers of faults are written in their table only', () => {
  const codes = new Set(Object.values(apiFaults).map(({ code }) => code))
  // A year is none.
  const number = new RegExp(`\\b(${[...codes].join('|')})\\b(?!-\\d\\d-)`)
  assert.deepEqual(
    sourceFiles().flatMap(({ path, text }) => (number.test(text) ? [path] : [])),
    ['errors/catalogue/api-faults.ts'],
  )
})
