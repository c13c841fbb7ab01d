// `.ci/nightly` with commands that only note what they were asked for.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { quickFolder } from './help/quick-folder.ts'
import { root } from './help/source.ts'

const [fuzz, simulate, tests] = [
  'node bin/pinned-node.js test/fuzz.ts all --minutes 1',
  `node bin/pinned-node.js test/simulate.ts --schedules 100 --from ${100 * Math.floor(Date.now() / 86_400_000)}`,
  'npm test',
] as const

test('the night tries all it has, and fails if any of it does', t => {
  const all = ['npm ci', fuzz, simulate, tests]
  assert.deepEqual(night(t, []), { status: 0, asked: all, stdout: '' })
  for (const failing of [simulate, tests])
    assert.deepEqual(night(t, [failing]), { status: 1, asked: all, stdout: '' })
  assert.deepEqual(night(t, [fuzz]), {
    ...{ status: 1, asked: all },
    // As it stands in the file, which the checkout takes along.
    stdout: 'test/fuzz/faults/forms-1.txt:"a\\x00"\n',
  })
})

test('a registry that fails is asked again, and without packages nothing is tried', t => {
  const tries = ['npm ci', 'sleep 10', 'npm ci', 'sleep 20', 'npm ci', 'sleep 30', 'npm ci']
  assert.deepEqual(night(t, ['npm ci']), { status: 1, asked: tries, stdout: '' })
})

/** Runs the script where these commands fail; returns all that it has run, in order. */
function night(t: TestContext, failing: readonly string[]) {
  const folder = quickFolder(t, 'night')
  const at = (name: string) => join(folder, name)
  cpSync(join(root, '.ci/nightly'), at('.ci/nightly'))
  mkdirSync(at('test/fuzz/faults'), { recursive: true })
  writeFileSync(at('test/fuzz/faults/forms-1.txt'), '"a\\x00"\n')
  const fails = failing.map(command => `[ "$asked" != '${command}' ] || exit 1`)
  const command = ['#!/bin/sh', `asked="\${0##*/} $*"`, `echo "$asked" >> ${at('asked')}`, ...fails]
  for (const name of ['node', 'npm', 'sleep'])
    writeFileSync(at(name), `${command.join('\n')}\n`, { mode: 0o755 })
  const env = { PATH: `${folder}:/usr/bin:/bin` }
  const { status, stdout } = spawnSync('bash', [at('.ci/nightly')], { env, encoding: 'utf8' })
  return { status, asked: readFileSync(at('asked'), 'utf8').trim().split('\n'), stdout }
}
