// How the program finds the Node that comes with its packages, from a Node that cannot run it.

import assert from 'node:assert/strict'
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { writeConfig } from '../help/gateway.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { root } from '../help/source.ts'
import { atTerminal } from '../help/terminal.ts'
import { thorough } from '../help/thorough.ts'

const run = promisify(execFile)

/** Has Node take itself for another one; one that is older cannot replace its process. */
function takenFor(version: string): string {
  const canReplace = version.startsWith('22.')
  return `data:text/javascript,${encodeURIComponent(`
    Object.defineProperty(process, 'version', { value: 'v${version}' })
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })
    process.execPath = '/elsewhere/node'
    ${canReplace ? '' : 'process.execve = undefined'}`)}`
}

// Those of 18 and 20 go the same way.
for (const version of thorough(['18.20.8', '20.20.2', '22.22.0'], ['18.20.8', '22.22.0'])) {
  const older = ['--import', takenFor(version)]
  const start = (...args: readonly string[]) => [...older, join(root, 'bin/pinned-node.js'), ...args]

  test(`Node ${version} hands a program to the Node of the packages, and ends as it does`, async () => {
    const script = 'console.log(process.version, ...process.argv.slice(1)); process.exitCode = 3'
    const { stdout, code } = await run(process.execPath, start('-e', script, 'a b', '--c')).catch(e => e)
    assert.match(stdout, /^v26\.\S+ a b --c\n$/)
    assert.equal(code, 3)
  })

  test(`Node ${version} passes signals on to a program`, async () => {
    const script = `process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1e6); console.log('ready')`
    const child: ChildProcessWithoutNullStreams = spawn(process.execPath, start('-e', script))
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [7, null])
  })

  for (const by of ['a person at its terminal', 'kill -INT'])
    test(`a gateway that Node ${version} started ends in order when ${by} interrupts it`, async t => {
      const file = writeConfig(t, 'zones: []')
      const args = [...older, join(root, 'bin/gatehouse.js'), 'start', '--config', file]
      const line = [process.execPath, ...args].map(part => `'${part.replaceAll("'", `'\\''`)}'`)
      const terminal = atTerminal(t, `echo pid $$; exec ${line.join(' ')}`, {
        GATEHOUSE_DATA: join(dirname(file), 'data'),
      })
      await terminal.shows(/ready/)
      const launcher = Number((await terminal.shows(/^pid (\d+)/))[1])
      if (by === 'kill -INT') process.kill(launcher, 'SIGINT')
      else terminal.press('\x03')
      assert.equal(await terminal.exited, 0)
      assert.match(terminal.text, /stopped/)
    })

  test(`Node ${version} starts the program`, async () => {
    const { stdout } = await run(process.execPath, [...older, join(root, 'bin/gatehouse.js'), '--version'])
    assert.match(stdout, /^\d+\.\d+\.\d+/)
  })
}

test('a Node that cannot run the program says what to do where there is no other', async t => {
  const folder = quickFolder(t, 'no-packages')
  for (const path of ['bin', 'package.json'])
    cpSync(join(root, path), join(folder, path), { recursive: true })
  const args = ['--import', takenFor('20.20.2'), join(folder, 'bin/gatehouse.js'), '--version']
  const { stderr, code } = await run(process.execPath, args).catch(e => e)
  assert.match(stderr, /^This needs Node 24\.12 or newer, and is started by v20\.20\.2: .*\n$/)
  assert.equal(code, 1)
})

test('the Node of the packages runs the program in its own process', async () => {
  const script = 'console.log(process.ppid)'
  const { stdout } = await run(process.execPath, [join(root, 'bin/pinned-node.js'), '-e', script])
  assert.equal(Number(stdout), process.pid)
})
