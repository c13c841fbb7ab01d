import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { quickFolder } from './help/quick-folder.ts'
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

/** Writes an apt-get, and a sudo that runs it, into a folder; it keeps what it was asked for, fails as often as it shall, and then installs. */
function fakeApt(t: TestContext, failures: number) {
  const folder = quickFolder(t, 'apt')
  const at = (name: string) => join(folder, name)
  const script = (name: string, text: string) =>
    writeFileSync(at(name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  script('sudo', 'shift; exec "$@"')
  script(
    'apt-get',
    `[ "$1" = --version ] && exit
while [ "$1" = -o ]; do shift 2; done
echo "$1" >> ${at('asked')}
[ "$(/usr/bin/wc -l < ${at('asked')})" -gt ${failures} ] || exit 100
[ "$1" = update ] || for name in chromium curl openssl redis-server; do /bin/cp ${at('sudo')} ${folder}/$name; done`,
  )
  return { folder, asked: () => readFileSync(at('asked'), 'utf8') }
}

test('a mirror that fails for a moment is asked again', t => {
  const { folder, asked } = fakeApt(t, 1)
  const { status, stderr } = install({ PATH: folder })
  assert.deepEqual([status, stderr], [0, 'apt-get failed; retrying in 1 seconds.\n'])
  assert.equal(asked(), 'update\nupdate\ninstall\n')
})
