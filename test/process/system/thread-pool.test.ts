import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

const source = `
await import('${new URL('../../../src/process/system/thread-pool.ts', import.meta.url)}')
const { pbkdf2 } = await import('node:crypto')
const { readdirSync } = await import('node:fs')
pbkdf2('', '', 1, 1, 'sha256', () => console.log(readdirSync('/proc/self/task').length))`

/** Tells how many threads a process has once it has used those that may block. */
function threads(env: NodeJS.ProcessEnv): number {
  const { UV_THREADPOOL_SIZE: _, ...inherited } = process.env
  const options = { encoding: 'utf8', env: { ...inherited, ...env } } as const
  return Number(spawnSync(process.execPath, ['--input-type=module', '--eval', source], options).stdout)
}

test('there are more threads than the default 4, unless the operator sets their number', () => {
  assert.equal(threads({}) - threads({ UV_THREADPOOL_SIZE: '4' }), 12)
})
