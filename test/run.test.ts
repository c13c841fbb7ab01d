import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import dearestFiles from './help/dearest-files.ts'
import {
  longest,
  processGroups,
  reasonsToBeAlone,
  sharesBrowser,
  startsPrograms,
  writeEntry,
} from './help/process-groups.ts'
import { quickFolder } from './help/quick-folder.ts'
import { root } from './help/source.ts'
import { until } from './help/until.ts'

test('each file of tests runs once, and most share a process', () => {
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.test.ts'))
    .map(file => join('test', file))
  const groups = processGroups()
  assert.deepEqual(groups.flat().toSorted(), files.toSorted())
  assert.ok(groups.length < files.length / 2)
  for (const group of groups.filter(({ length }) => length > 1)) {
    assert.ok(group.every(isSociable) || group.every(sharesBrowser), `${group}`)
    assert.ok(group.length <= 6 || !group.some(startsPrograms), `${group}`)
  }
})

test('what takes longest begins first, then groups that compute and that start programs take turns, and files that run alone end', () => {
  const groups = processGroups()
  assert.deepEqual(groups.slice(0, longest.size).flat(), [...longest])
  const others = groups.slice(longest.size).filter(group => !group.some(sharesBrowser))
  const shared = others.filter(({ length }) => length > 1)
  assert.deepEqual(others.slice(0, shared.length), shared)
  const starting = (part: typeof shared) => part.filter(group => group.some(startsPrograms)).length
  assert.ok(Math.abs(starting(shared.slice(0, shared.length / 2)) - starting(shared) / 2) <= 1)
})

test('a file that runs alone does so without what a group needs', t => {
  const { status, stdout } = runGroups(t, {
    only: "test('leaves', () => { process.env.LEFT_BEHIND = '1' }); test('finds', () => {})",
  })
  assert.equal(status, 0)
  assert.deepEqual(namesOf(stdout, 'ok'), ['leaves', 'finds'])
})

test('who starts a browser, or has to do with its own process, runs alone, and few who start Node share one', t => {
  const folder = quickFolder(t, 'tests')
  let count = 0
  const write = (text: string) => {
    const file = join(folder, `${count++}.test.ts`)
    writeFileSync(file, text)
    return relative(root, file)
  }
  const helper = relative(folder, join(root, 'test/help/gateway.ts'))
  const alone = [
    "import { chromium } from 'playwright-core'",
    "const { Worker } = await import('node:worker_threads')",
    "process.on('SIGHUP', () => {})",
    "process.kill(process.pid, 'SIGHUP')",
    "process.env.NAME = 'value'",
    'delete process.env.NAME',
    'Object.assign(globalThis, { fetch })',
    'mock.timers.enable()',
    'after(() => server.close())',
  ]
  for (const text of alone) assert.notDeepEqual(reasonsToBeAlone(write(text)), [], text)
  const starting = [
    "import { spawn } from 'node:child_process'\nspawn(process.execPath)",
    "import { fork } from 'node:child_process'\nfork('program.ts')",
    `import { startGateway } from '${helper}'`,
  ]
  const sociable = [
    "process.kill(child.pid, 'SIGHUP')",
    't.mock.timers.enable()',
    '  t.after(() => {})',
    'const { HOME } = process.env',
    "import { createServer } from 'node:net'",
    "import { spawn } from 'node:child_process'\nspawn('openssl')",
    "import type { Page } from 'playwright-core'",
  ]
  for (const text of [...starting, ...sociable]) {
    const file = write(text)
    assert.deepEqual(reasonsToBeAlone(file), [], text)
    assert.equal(startsPrograms(file), starting.includes(text), text)
  }
})

test('a group says by name what fails, does not load or leaves traces, and what follows runs all the same', t => {
  const { status, stdout } = runGroups(t, {
    first: "test('fails', () => { throw new Error('on purpose') }); test('passes', () => {})",
    second: "import './nowhere.ts'",
    third: "test('leaves', () => { process.env.LEFT_BEHIND = '1' })",
    fourth: "test('finds', () => {}); test('is last', () => {})",
  })
  assert.equal(status, 1)
  assert.deepEqual(namesOf(stdout, 'not ok'), ['fails', 'second.test.ts', 'finds'])
  assert.deepEqual(namesOf(stdout, 'ok'), ['passes', 'leaves', 'is last'])
  assert.match(stdout, /the test before, leaves, left the process other than it found it/)
  assert.match(stdout, /process\.env\.LEFT_BEHIND/)
  assert.match(stdout, /^# tests 6$/m)
  assert.match(stdout, /^# fail 3$/m)
})

test('traces of the last test, and the end of a process before its time, fail the group', t => {
  const last = runGroups(t, {
    before: "test('passes', () => {})",
    last: "test('leaves', () => { globalThis.fetch = () => {} })",
  })
  assert.equal(last.status, 1)
  assert.match(last.stdout, /the test before, leaves, left the process other than it found it/)
  const ended = runGroups(t, {
    before: "test('passes', () => {})",
    ended: "test('ends', () => process.kill(process.pid, 'SIGKILL')); test('waits', () => {})",
  })
  assert.equal(ended.status, 1)
  assert.match(namesOf(ended.stdout, 'not ok').join(), /^000-.*-before\.test\.ts-and-others\.mjs$/)
})

test('an error fails the test that began what throws it, wherever it comes from', t => {
  const { status, stdout } = runGroups(t, {
    late: `
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
const wait = () => new Promise(resolve => setTimeout(resolve, 10_000).unref())
const late = message => setTimeout(() => { throw new Error(message) })
test('of a timer', async () => { await null; late('in vain'); await wait() })
test('passes', async () => {})
test('of a promise', async () => { await null; void Promise.reject(new Error('in vain')); await wait() })
test('of a test within', t => t.test('within', async () => { await null; late('in vain'); await wait() }))
test('of a socket', async t => {
  const server = createServer(socket => socket.on('data', () => { throw new Error('in vain') })).listen(0)
  await once(server, 'listening')
  const client = connect(server.address().port).on('error', () => {})
  t.after(() => [client.destroy(), server.close()])
  client.write('x')
  await wait()
})
test('is over', () => { late('too late') })
test('goes on', () => new Promise(resolve => setTimeout(resolve, 100)))`,
  })
  assert.equal(status, 1)
  const failed = ['of a timer', 'of a promise', 'within', 'of a test within', 'of a socket']
  assert.deepEqual(namesOf(stdout, 'not ok'), failed)
  assert.deepEqual(namesOf(stdout, 'ok'), ['passes', 'is over', 'goes on'])
  assert.match(
    stdout,
    /^# Error: Test "is over" at .* generated asynchronous activity after the test ended.*too late/m,
  )
})

test('the end names the ten files that took longest, with their seconds, for all tests of each', async () => {
  const passed = (file: string, ms: number, nesting = 0) =>
    ({
      type: 'test:pass',
      data: { file: join(root, file), nesting, details: { duration_ms: ms } },
    }) as TestEvent
  const events = [
    ...Array.from({ length: 10 }, (_, i) => passed(`test/${i}.test.ts`, i * 1_000)),
    passed('test/sum.test.ts', 5_060),
    passed('test/sum.test.ts', 60_000, 1),
    passed('test/sum.test.ts', 5_000),
  ]
  const lines = (await Array.fromAsync(dearestFiles(Readable.from(events)))).join('').trim().split('\n')
  assert.deepEqual(lines.slice(1, 3), ['   10.1 test/sum.test.ts', '    9.0 test/9.test.ts'])
  assert.equal(lines.length, 11)
  assert.equal(lines.at(-1), '    1.0 test/1.test.ts')
})

for (const signal of ['SIGTERM', 'SIGHUP'] as const)
  test(`whoever ends the runner by ${signal} ends its tests and what they have started`, async t => {
    const folder = quickFolder(t, 'tests')
    const started = join(folder, 'started')
    const file = join(folder, 'waits.test.ts')
    // What is started ignores the signals, as does a gateway that waits for requests.
    writeFileSync(
      file,
      `
import { spawn } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
test('waits', async () => {
  const { pid } = spawn('sh', ['-c', 'trap "" TERM INT HUP; while :; do sleep 1; done'])
  writeFileSync(${JSON.stringify(`${started}.new`)}, process.pid + ' ' + pid)
  renameSync(${JSON.stringify(`${started}.new`)}, ${JSON.stringify(started)})
  await new Promise(resolve => setTimeout(resolve, 60_000))
})`,
    )
    const program = `import { runTests } from ${JSON.stringify(join(root, 'test/help/test-runner.ts'))}
process.exitCode = await runTests(['--test', '--test-reporter=tap', process.argv[1]])`
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const options = ['--input-type=module', '--eval', program, file]
    const runner = spawn(process.execPath, options, { env, stdio: 'ignore' })
    await until(() => existsSync(started))
    const pids = readFileSync(started, 'utf8').split(' ').map(Number)
    t.after(() => {
      for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL')
    })
    assert.deepEqual(pids.map(isRunning), [true, true])
    runner.kill(signal)
    const [code] = await once(runner, 'exit')
    assert.equal(code, 1)
    await until(() => !pids.some(isRunning))
  })

function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

function isSociable(file: string): boolean {
  return reasonsToBeAlone(file).length === 0
}

const lightHooks = new URL('help/light-hooks.ts', import.meta.url).href

/** Runs files of tests, given by name and text, as a group. */
function runGroups(t: TestContext, texts: Readonly<Record<string, string>>) {
  const folder = quickFolder(t, 'tests')
  const files = Object.entries(texts).map(([name, text]) => {
    const file = join(folder, `${name}.test.ts`)
    writeFileSync(file, `import { test } from 'node:test'\n${text}\n`)
    return file
  })
  const entry = writeEntry(folder, files, 0)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const options = [`--import=${lightHooks}`, '--test', '--test-reporter=tap']
  return spawnSync(process.execPath, [...options, entry], { env, encoding: 'utf8' })
}

/** Returns the last part of the names of tests that ended so, in order. */
function namesOf(tap: string, how: 'ok' | 'not ok'): readonly string[] {
  return [...tap.matchAll(/^ *(ok|not ok) \d+ - (?:.*\/)?(.*)$/gm)]
    .filter(([, outcome]) => outcome === how)
    .map(([, , name]) => name!)
}
