import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from './help/source.ts'

function install(env: NodeJS.ProcessEnv) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'test/install.ts')], {
    env,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

test('what is there needs no word', () => {
  const here = process.execPath
  const present = { CHROMIUM: here, CURL: here, OPENSSL: here, REDIS_SERVER: here }
  assert.deepEqual(install({ PATH: '', ...present }), { status: 0, stdout: '', stderr: '' })
})

test('what is missing and cannot be installed is named, with its package and the variable that may point to it', () => {
  assert.deepEqual(install({ PATH: '' }), {
    status: 1,
    stdout: '',
    stderr:
      'The tests need chromium: install the package chromium, or name its path in CHROMIUM.\n' +
      'The tests need curl: install the package curl, or name its path in CURL.\n' +
      'The tests need openssl: install the package openssl, or name its path in OPENSSL.\n' +
      'The tests need redis-server: install the package redis-server, or name its path in REDIS_SERVER.\n',
  })
})
