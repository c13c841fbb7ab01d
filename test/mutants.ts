// Asks what the tests hold: makes each known mutation of src in a copy of the project, runs the tests that should notice, and says which mutations live.
// node test/mutants.ts [--only edge/meter] [--list]

import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './help/source.ts'
import { allMutations } from './mutants/all.ts'
import { lineOf, type Mutation, mutated, staleness } from './mutants/mutation.ts'

/** Ms that the tests of one mutation may take before they count as having noticed. */
const LONGEST = 120_000
/** Ms that one test may take. */
const LONGEST_TEST = 60_000
/** KiB of address space that each process of the tests may have: a mutation may allocate without end, and faster than its time is over. */
const MOST_MEMORY = 4 * 2 ** 20
/** The percentage of mutations that has to be caught. */
const GOAL = 95

/** How tests ended: they passed, one failed, or none ended in time. */
type Outcome = 'passed' | 'failed' | 'timed out'

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, list: { type: 'boolean' } },
})
const isWanted = ({ file }: Mutation) => values.only?.some(start => file.startsWith(start)) ?? true
const mutations = allMutations.filter(isWanted)
const stale = mutations.map(staleness).filter(reason => reason !== null)
for (const reason of stale) console.error(`stale  ${reason}`)
if (stale.length > 0 || mutations.length === 0) {
  console.error(mutations.length === 0 ? 'no mutation of such a file' : 'mend or remove these first')
  process.exitCode = 2
} else if (values.list) {
  for (const mutation of mutations) console.log(describe(mutation))
} else {
  const copy = mkdtempSync(join(tmpdir(), 'gatehouse-mutants-'))
  try {
    copyProject(copy)
    const broken = await brokenTests(copy)
    const asked = mutations.filter(({ tests }) => !tests.some(name => broken.has(name)))
    const isGood = await askAll(copy, asked)
    process.exitCode = broken.size > 0 ? 2 : isGood ? 0 : 1
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function copyProject(copy: string): void {
  const isOurs = (path: string) => !/^(\.git|node_modules|data)$/.test(relative(root, path))
  cpSync(root, copy, { recursive: true, filter: isOurs })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
}

/** Finds the tests that fail anyway, twice, since each of them would seem to notice everything. */
async function brokenTests(copy: string): Promise<ReadonlySet<string>> {
  const broken = new Set<string>()
  for (const name of new Set(mutations.flatMap(({ tests }) => tests))) {
    const isGood = (await runTests(copy, [name])) === 'passed' || (await runTests(copy, [name])) === 'passed'
    if (isGood) continue
    broken.add(name)
    console.error(`fails without any mutation: test/${name}.test.ts`)
  }
  return broken
}

/** Makes one mutation after the other; whether enough were caught. */
async function askAll(copy: string, asked: readonly Mutation[]): Promise<boolean> {
  const living: Mutation[] = []
  for (const mutation of asked) {
    const path = join(copy, 'src', mutation.file)
    const whole = readFileSync(path, 'utf8')
    writeFileSync(path, mutated(whole, mutation))
    const outcome = await runTests(copy, mutation.tests)
    writeFileSync(path, whole)
    if (outcome === 'passed') living.push(mutation)
    console.log(`${outcome === 'passed' ? 'lives' : outcome}: ${describe(mutation)}`)
  }
  const caught = asked.length - living.length
  const share = (caught / asked.length) * 100
  console.log(`\n${caught} of ${asked.length} mutations caught, ${share.toFixed(1)} %`)
  for (const mutation of living) console.log(`lives: ${describe(mutation)}`)
  return share >= GOAL
}

function describe(mutation: Mutation): string {
  const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()
  const { file, text, becomes, breaks } = mutation
  return `src/${file}:${lineOf(mutation)} ${breaks}\n  ${oneLine(text)}\n  => ${oneLine(becomes)}`
}

/** Runs tests one after the other until the first fails; ends all that they started. */
async function runTests(copy: string, names: readonly string[]): Promise<Outcome> {
  const files = names.map(name => `test/${name}.test.ts`)
  const args = ['--test', '--test-concurrency=1', `--test-timeout=${LONGEST_TEST}`, '--test-reporter=tap']
  const bounded = `ulimit -v ${MOST_MEMORY}; exec "$0" "$@"`
  const child = spawn('/bin/sh', ['-c', bounded, process.execPath, ...args, ...files], {
    cwd: copy,
    // What a runner of tests that started this one has set would make it report to that one.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_COMPILE_CACHE: join(copy, '.cache') },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const timer = setTimeout(() => resolve('timed out'), LONGEST)
  let last = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (last + text).split('\n')
    last = lines.pop()!
    if (lines.some(line => /^ *not ok /.test(line))) resolve('failed')
  })
  child.on('error', () => resolve('failed'))
  child.on('close', code => resolve(code === 0 ? 'passed' : 'failed'))
  const outcome = await promise
  clearTimeout(timer)
  if (child.exitCode === null) {
    const closed = new Promise(resolve => child.once('close', resolve))
    killGroup(child.pid!)
    await closed
  }
  return outcome
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
