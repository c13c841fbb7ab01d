// Tests mirror src: each folder with code has tests, and no folder of tests stays behind when code moves.

import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { root, sourceFiles } from '../help/source.ts'

/** Folders of test that hold more than the tests of one folder of src, or other programs. */
const others = /^(bench|conformance|deploy|fuzz|house|journeys|mutants|simulation|wire)(\/|$)/

const testFolders = new Set(globSync('**/*.test.ts', { cwd: join(root, 'test') }).map(path => dirname(path)))

/** Whether a file has more than types, constants and tables. */
function hasCode(text: string): boolean {
  return /^(export )?(async )?(function|class|const \w+ = \(.*=>)/m.test(text)
}

test('each folder of src with code has tests in the same folder of test, or in the one above', () => {
  const folders = new Set(sourceFiles().flatMap(({ path, text }) => (hasCode(text) ? [dirname(path)] : [])))
  assert.deepEqual(
    [...folders].filter(folder => !testFolders.has(folder) && !testFolders.has(dirname(folder))),
    [],
  )
})

test('each folder of tests mirrors a folder of src', () => {
  assert.deepEqual(
    [...testFolders].filter(folder => !others.test(folder) && !existsSync(join(root, 'src', folder))),
    [],
  )
})
