// What `npm start` starts in a checkout: the sources, or what the build made of them as long as it is up to date.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { writeConfig } from '../help/gateway.ts'
import { SharedLog } from '../help/shared-log.ts'
import { root } from '../help/source.ts'

const { isBuilt, stampName, stampOf } = (await import(pathToFileURL(join(root, 'bin/built.js')).href)) as {
  readonly stampName: string
  isBuilt(root: string): boolean
  stampOf(root: string): string
}

/** A checkout whose programs say which they are, and their arguments. */
function makeCheckout(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-launcher-'))
  t.after(() => rmSync(folder, { recursive: true }))
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
  for (const name of ['src/deep', 'dist', 'config']) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'src/main.ts'), `console.log('sources', ...process.argv.slice(2))`)
  writeFileSync(join(folder, 'src/deep/part.ts'), 'export const part = 1')
  writeFileSync(join(folder, 'dist/main.js'), `console.log('package', ...process.argv.slice(2))`)
  const stamp = join(folder, 'dist', stampName)
  const startedWith = (env: NodeJS.ProcessEnv, args: readonly string[]) => {
    const options = { encoding: 'utf8', env: { ...process.env, ...env } } as const
    return spawnSync(process.execPath, [join(folder, 'bin/gatehouse.js'), ...args], options).stdout.trimEnd()
  }
  return {
    path: (name: string) => join(folder, name),
    build: () => writeFileSync(stamp, stampOf(folder)),
    interruptBuild: () => rmSync(stamp),
    started: (...args: readonly string[]) => startedWith({}, args),
    startedWith,
  }
}

test('what is built is started with its arguments, and without a build, or with one that is stale, the sources are', t => {
  const checkout = makeCheckout(t)
  assert.equal(checkout.started('start', '--data', 'a b'), 'sources start --data a b')
  checkout.build()
  assert.equal(checkout.started('start', '--data', 'a b'), 'package start --data a b')
  writeFileSync(checkout.path('src/deep/part.ts'), 'export const part = 2')
  assert.equal(checkout.started(), 'sources')
  checkout.build()
  checkout.interruptBuild()
  assert.equal(isBuilt(checkout.path('')), false)
})

test('threads share an arena of the C library, unless the environment says otherwise', t => {
  const checkout = makeCheckout(t)
  writeFileSync(checkout.path('src/main.ts'), 'console.log(process.env.MALLOC_ARENA_MAX)')
  assert.equal(checkout.startedWith({ MALLOC_ARENA_MAX: undefined }, []), '2')
  assert.equal(checkout.startedWith({ MALLOC_ARENA_MAX: '8' }, []), '8')
})

for (const [change, make] of Object.entries({
  'a changed file': path => writeFileSync(path('src/deep/part.ts'), 'export const part = 2'),
  'an older file of the same length': path => {
    writeFileSync(path('src/deep/part.ts'), 'export const part = 3')
    utimesSync(path('src/deep/part.ts'), 1, 1)
  },
  'a new file': path => writeFileSync(path('config/more.yaml'), ''),
  'a deleted file': path => rmSync(path('src/deep/part.ts')),
  'another version of a package': path => writeFileSync(path('package.json'), '{ "type": "module" }\n'),
} satisfies Record<string, (path: (name: string) => string) => void>))
  test(`${change} makes a build stale, until the next one`, t => {
    const checkout = makeCheckout(t)
    checkout.build()
    assert.equal(isBuilt(checkout.path('')), true)
    make(checkout.path)
    assert.equal(isBuilt(checkout.path('')), false)
    checkout.build()
    assert.equal(isBuilt(checkout.path('')), true)
  })

test('an upgrade starts what is then up to date, and the process stays the one that was started', async t => {
  const file = writeConfig(t, 'zones: []')
  const child = spawn(process.execPath, [join(root, 'bin/gatehouse.js'), 'start', '--config', file], {
    env: { ...process.env, GATEHOUSE_DATA: join(dirname(file), 'data') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const log = new SharedLog(child)
  t.after(async () => {
    process.kill(log.lines.findLast(({ msg }) => msg === 'ready')?.pid ?? child.pid!)
    await log.closed
  })
  const { pid } = await log.nth('ready')
  assert.equal(pid, child.pid)
  child.kill('SIGUSR2')
  const { next } = await log.nth('upgraded: the new gateway serves', 1, /^upgrade (failed|refused)/)
  const started = readFileSync(`/proc/${next}/cmdline`, 'latin1').split('\0')
  assert.equal(started[1], join(root, 'bin/gatehouse.js'))
})
