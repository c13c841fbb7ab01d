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

const variables = [
  ...['CHROMIUM', 'CURL', 'OPENSSL', 'H2LOAD', 'REDIS_SERVER', 'PEBBLE', 'PROMTOOL', 'SYSTEMD_ANALYZE'],
]
const present = Object.fromEntries(variables.map(variable => [variable, process.execPath]))

test('what is there needs no word', () => {
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
      'The tests need h2load: install the package nghttp2-client, or name its path in H2LOAD.\n' +
      'The tests need redis-server: install the package redis-server, or name its path in REDIS_SERVER.\n' +
      'The tests need pebble: install the package pebble, or name its path in PEBBLE.\n' +
      'The tests need promtool: install the package prometheus, or name its path in PROMTOOL.\n' +
      'The tests need systemd-analyze: install the package systemd, or name its path in SYSTEMD_ANALYZE.\n',
  })
})

/** Writes an apt-get, and a sudo that runs it, into a folder; it keeps what it was asked for, fails as often as it shall, and then installs, unless a package is absent. */
function fakeApt(t: TestContext, failures: number, absent = 'none') {
  const folder = quickFolder(t, 'apt')
  const at = (name: string) => join(folder, name)
  const script = (name: string, text: string) =>
    writeFileSync(at(name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  script('sudo', 'shift; exec "$@"')
  script(
    'apt-get',
    `[ "$1" = --version ] && exit
while [ "$1" = -o ]; do shift 2; done
echo "$*" >> ${at('asked')}
[ "$(/usr/bin/wc -l < ${at('asked')})" -gt ${failures} ] || exit 100
[ "$1" = update ] && exit
shift 4
for name in "$@"; do case $name in ${absent}) exit 100;; esac; done
for name in "$@"; do
  case $name in nghttp2-client) name=h2load;; prometheus) name=promtool;; systemd) name=systemd-analyze;; esac
  /bin/cp ${at('sudo')} ${folder}/$name
done`,
  )
  return { folder, asked: () => readFileSync(at('asked'), 'utf8') }
}

const update = 'update -qq\n'
const installing = (...packages: string[]) => `install -y -qq --no-install-recommends ${packages.join(' ')}\n`
const others = ['curl', 'openssl', 'nghttp2-client', 'redis-server', 'pebble', 'prometheus', 'systemd']

test('what is missing is installed, of Chromium what costs least', t => {
  const { folder, asked } = fakeApt(t, 0)
  assert.deepEqual(install({ PATH: folder }), { status: 0, stdout: '', stderr: '' })
  assert.equal(asked(), update + installing('chromium-headless-shell', ...others))
})

test('a mirror that fails for a moment is asked again', t => {
  const { folder, asked } = fakeApt(t, 1)
  const { status, stderr } = install({ PATH: folder })
  assert.deepEqual([status, stderr], [0, 'apt-get failed; retrying in 1 seconds.\n'])
  assert.equal(asked(), update + update + installing('chromium', ...others))
})

test('where the small Chromium cannot be had, the whole one does, without a wait if it is there', t => {
  const { folder, asked } = fakeApt(t, 0, 'chromium-headless-shell')
  const first = install({ PATH: folder })
  assert.deepEqual([first.status, first.stderr], [0, 'apt-get failed; retrying in 1 seconds.\n'])
  const whole = update + installing('chromium', ...others)
  assert.equal(asked(), update + installing('chromium-headless-shell', ...others) + whole)
  assert.deepEqual(install({ PATH: folder }), { status: 0, stdout: '', stderr: '' })
})
