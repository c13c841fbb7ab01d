// The door of the program.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from './help/gateway.ts'

for (const [where, envOf] of Object.entries({
  'the cache folder of the user': (home: string) => ({ XDG_CACHE_HOME: join(home, '.cache') }),
  'the home of the user': (home: string) => ({ HOME: home }),
  nowhere: () => ({}),
})) {
  test(`compiled code is kept in ${where}, and never in the temporary folder of all users`, t => {
    const [home, temporary] = [folder(), folder()]
    t.after(() => {
      for (const path of [home, temporary]) rmSync(path, { recursive: true })
    })
    const env = { PATH: process.env.PATH!, TMPDIR: temporary, ...envOf(home) }
    const { status } = spawnSync(process.execPath, [main, '--version'], { env })
    assert.equal(status, 0)
    assert.equal(existsSync(join(home, '.cache/gatehouse')), where !== 'nowhere')
    assert.deepEqual(readdirSync(temporary), [])
  })
}

test('root runs no compiled code of another user', { skip: process.getuid?.() !== 0 }, t => {
  const home = folder()
  t.after(() => rmSync(home, { recursive: true }))
  const run = (uid: number) => {
    const cache = join(home, '.cache/gatehouse/commands')
    mkdirSync(cache, { recursive: true })
    chownSync(cache, uid, uid)
    const env = { PATH: process.env.PATH!, HOME: home }
    assert.equal(spawnSync(process.execPath, [main, '--version'], { env }).status, 0)
    return readdirSync(cache).length
  }
  assert.deepEqual([run(12_345), run(0)], [0, 1])
})

test('a cache folder that cannot be made keeps no command from its work', () => {
  for (const XDG_CACHE_HOME of ['/proc', '/dev/null']) {
    const env = { PATH: process.env.PATH!, XDG_CACHE_HOME }
    const { status, signal } = spawnSync(process.execPath, [main, '--version'], { env, timeout: 20_000 })
    assert.deepEqual({ status, signal }, { status: 0, signal: null })
  }
})

function folder(): string {
  return mkdtempSync(join(tmpdir(), 'gatehouse-main-'))
}
