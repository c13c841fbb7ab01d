// Tests the tests of security-relevant files: mutates each, runs its near tests, and lists the mutations that none of them notices.
// node test/mutants.ts FILE... [--tests FILE,FILE] [--list]

import { spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { root } from './help/source.ts'
import type { MutatedFile } from './mutants/load.ts'
import { type Mutation, mutate, mutationsOf } from './mutants/operators.ts'
import { reviewed } from './mutants/reviewed.ts'

/** KiB of address space of each process: a mutation may allocate without end. */
const maxMemory = 4 * 2 ** 20
/** Ms that a test may take in addition to three times what it took without a mutation. */
const slack = 5_000
/** Tests that take longer without a mutation, in ms, are left out. */
const maxDuration = 20_000

/** A test file, and how long it took without a mutation, in ms. */
interface NearTest {
  readonly path: string
  readonly duration: number
}

const { values, positionals } = parseArgs({
  options: { tests: { type: 'string' }, list: { type: 'boolean' } },
  allowPositionals: true,
})
const sources = globSync(
  positionals.map(path => relative(root, path)),
  { cwd: root },
).sort()
if (sources.length === 0) console.error('name files of src to mutate, or patterns of them')
process.exitCode = sources.length === 0 ? 2 : 0
for (const path of sources) if (!(await check(path))) process.exitCode ||= 1

/** Whether the tests of a file notice all of its mutations, except the reviewed ones. */
async function check(path: string): Promise<boolean> {
  const source = readFileSync(join(root, path), 'utf8')
  const mutations = mutationsOf(source)
  const tests = values.tests?.split(',') ?? nearTestsOf(path)
  console.log(`${path}: ${mutations.length} mutations\n  ${tests.join('\n  ')}`)
  if (values.list) for (const mutation of mutations) console.log(describe(path, source, mutation))
  if (values.list) return true
  const timed = await timeAll(tests)
  const rows = reviewed.filter(({ file }) => path.endsWith(file))
  const unused = new Set(rows)
  let survivors = 0
  for (const mutation of mutations) {
    const [line, becomes] = lines(source, mutation)
    const row = rows.find(one => one.line === line && one.becomes === becomes)
    if (row) unused.delete(row)
    if (row || (await isNoticed(path, mutation, timed))) continue
    survivors++
    console.log(describe(path, source, mutation))
  }
  for (const { line, becomes } of unused) console.log(`  reviewed, but no longer made: ${line} => ${becomes}`)
  console.log(`${path}: ${survivors} of ${mutations.length} mutations survive\n`)
  return survivors === 0
}

/** Finds the tests of the file or its folder, and others of that folder that import the file; where there are none, all that import it. */
function nearTestsOf(path: string): readonly string[] {
  const own = path.replace(/^src/, 'test').replace(/\.ts$/, '.test.ts')
  const folder = dirname(own)
  const held = [own, `${folder}.test.ts`, join(folder, `${basename(folder)}.test.ts`)]
  const isImported = (test: string) =>
    readFileSync(join(root, test), 'utf8').includes(`'${relative(dirname(test), path)}'`)
  const all = globSync('test/**/*.test.ts', { cwd: root }).filter(
    test => held.includes(test) || isImported(test),
  )
  const near = all.filter(test => held.includes(test) || dirname(test) === folder)
  return near.length > 0 ? near : all
}

/** Runs tests without a mutation; returns those that pass in time, the fastest first. */
async function timeAll(tests: readonly string[]): Promise<readonly NearTest[]> {
  const timed: NearTest[] = []
  for (const path of tests) {
    const began = performance.now()
    if (await passes(path, maxDuration)) timed.push({ path, duration: performance.now() - began })
    else console.error(`left out, since it fails or takes long without a mutation: ${path}`)
  }
  return timed.sort((a, b) => a.duration - b.duration)
}

async function isNoticed(path: string, mutation: Mutation, tests: readonly NearTest[]): Promise<boolean> {
  const file: MutatedFile = { url: pathToFileURL(join(root, path)).href, mutation }
  for (const test of tests) if (!(await passes(test.path, 3 * test.duration + slack, file))) return true
  return false
}

/** Runs a test until its first failure; whether it passes in time. Ends all processes that it started. */
async function passes(test: string, timeout: number, mutated?: MutatedFile): Promise<boolean> {
  const hook = mutated && `--import=${new URL('mutants/load.ts', import.meta.url)}`
  const child = spawn(
    '/bin/sh',
    ['-c', `ulimit -v ${maxMemory}; exec "$0" "$@"`, process.execPath, '--test-reporter=tap', test],
    {
      cwd: root,
      env: {
        ...process.env,
        MUTATION: JSON.stringify(mutated),
        NODE_OPTIONS: hook,
        NODE_TEST_CONTEXT: undefined,
      },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    },
  )
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, timeout, false)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-text.length - 10)
    if (/^ *not ok /m.test(output)) resolve(false)
  })
  child.on('close', code => resolve(code === 0))
  const isPassed = await promise
  clearTimeout(timer)
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {
    // All have ended.
  }
  return isPassed
}

function describe(path: string, source: string, mutation: Mutation): string {
  const number = source.slice(0, mutation.start).split('\n').length
  return `  ${path}:${number}\n    ${lines(source, mutation).join('\n    ')}`
}

/** Returns the lines of a mutation, before and after it. */
function lines(source: string, mutation: Mutation): readonly [string, string] {
  const first = source.lastIndexOf('\n', mutation.start) + 1
  const rest = (text: string, end: number) => text.slice(first, end).replaceAll(/\s+/g, ' ').trim()
  const last = source.indexOf('\n', mutation.end)
  return [
    rest(source, last),
    rest(mutate(source, mutation), last + mutation.text.length - (mutation.end - mutation.start)),
  ]
}
