// Tests the tests of files that decide about security, money and framing: mutates each, runs its near tests, and lists the mutations
// that none of them notices. node test/mutants.ts framing|security|money|FILE|FOLDER... [--tests FILE,FILE] [--lines 12,40] [--list]

import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { countOf, giveUp, optionsOfCommand } from './help/command-options.ts'
import { root } from './help/source.ts'
import { decisiveFiles } from './mutants/decisive-files.ts'
import { dependentsOf, nearTestsOf } from './mutants/near-tests.ts'
import { type Mutation, mutate, mutationsOf } from './mutants/operators.ts'
import { reviewed } from './mutants/reviewed.ts'
import { work } from './mutants/work.ts'
import type { Covered, Job, Verdict, Wanted } from './mutants/worker.ts'

/** Ms of CPU of the tests that try one mutation: those that take longest are left out beyond that. */
const maxDuration = 20_000
/** Runs of one process: copies of modules stay in its memory. */
const batchSize = 25

interface Source {
  readonly path: string
  readonly text: string
  readonly mutations: readonly Mutation[]
}

interface NearTest extends Covered {
  readonly file: string
}

type Outcome = 'caught' | 'hung' | 'equivalent' | 'survives' | 'unreached'

const { values, positionals } = optionsOfCommand({
  options: { tests: { type: 'string' }, lines: { type: 'string' }, list: { type: 'boolean' } },
  allowPositionals: true,
})
const lines = values.lines?.split(',').map(line => countOf('--lines', line))
const sources = positionals
  .flatMap(name => decisiveFiles[name] ?? name)
  .map(path => relative(root, resolve(path)))
  .flatMap(path =>
    !existsSync(join(root, path))
      ? giveUp(`there is no ${path}`)
      : statSync(join(root, path)).isDirectory()
        ? globSync(`${path}/**/*.ts`, { cwd: root }).sort()
        : path,
  )
  .map(sourceOf)
  .filter(({ mutations }) => mutations.length > 0)
if (positionals.length === 0) giveUp('name framing, security, money, or files or folders of src to mutate')
if (sources.length === 0)
  giveUp(`there is nothing to mutate in ${positionals.join(', ')}${lines ? ', on those lines' : ''}`)
else if (values.list)
  for (const source of sources) for (const one of source.mutations) console.log(describe(source, one))
else await checkAll()

function sourceOf(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8')
  const mutations = mutationsOf(text).filter(({ start }) => !lines || lines.includes(lineOf(text, start)))
  return { path, text, mutations }
}

async function checkAll(): Promise<void> {
  const covered = new Map<string, readonly NearTest[]>()
  const all: Outcome[] = []
  for (const source of sources) {
    const files = values.tests?.split(',') ?? nearTestsOf(source.path)
    for (const file of files) if (!covered.has(file)) covered.set(file, await cover(file))
    const tests = files.flatMap(file => covered.get(file)!)
    const outcomes = await check(source, tests)
    console.log(`${source.path}: ${summary(outcomes)}`)
    all.push(...outcomes)
  }
  if (sources.length > 1) console.log(`all: ${summary(all)}`)
  process.exitCode = all.some(one => one === 'survives' || one === 'unreached') ? 1 : 0
}

/** Runs the tests of a file without a mutation; returns what each of them reaches. */
async function cover(file: string): Promise<readonly NearTest[]> {
  const tests: NearTest[] = []
  const positions = Object.fromEntries(
    sources.map(({ path, mutations }) => [path, mutations.map(one => one.at)]),
  )
  await work<Covered>({ kind: 'cover', test: file, positions }, 3 * maxDuration, one =>
    tests.push({ ...one, file }),
  )
  if (tests.length === 0) console.error(`left out, since it fails or takes long without a mutation: ${file}`)
  return tests
}

/** Returns what becomes of each mutation of a file. */
async function check(source: Source, tests: readonly NearTest[]): Promise<readonly Outcome[]> {
  const rows = new Set(reviewed.filter(({ file }) => source.path.endsWith(file)))
  const unused = new Set(rows)
  const outcomes = source.mutations.map((mutation, i): Outcome | Wanting => {
    const [line, becomes] = linesOf(source, mutation)
    const row = rows.values().find(one => one.line === line && one.becomes === becomes)
    if (row) unused.delete(row)
    if (row) return 'equivalent'
    const wanted = wantedFor(source, i, tests)
    return wanted.tests.length === 0 ? 'unreached' : wanted
  })
  const pending = outcomes.filter(one => typeof one !== 'string')
  while (pending.length > 0) {
    const batch = pending.splice(0, batchSize)
    const judged = await judge(source, batch)
    for (const [wanting, outcome] of judged) outcomes[wanting.number] = outcome
    // What came after one that ended the process.
    pending.unshift(...batch.slice(judged.size))
  }
  for (const [i, outcome] of outcomes.entries())
    if (outcome === 'survives' || outcome === 'unreached')
      console.log(
        `${describe(source, source.mutations[i]!)}${outcome === 'unreached' ? '\n    (no test reaches it)' : ''}`,
      )
  if (!lines)
    for (const { line, becomes } of unused)
      console.log(`  reviewed, but no longer made: ${line} => ${becomes}`)
  return outcomes as Outcome[]
}

/** A mutation, and the tests that reach it. */
interface Wanting {
  readonly number: number
  readonly tests: readonly Wanted[]
  readonly cpu: number
}

/** Chooses the tests that reach a mutation, the fastest first, and then those of files that reach it as they are loaded. */
function wantedFor({ path }: Source, number: number, tests: readonly NearTest[]): Wanting {
  const reaching = tests.filter(({ reached }) => reached[path]?.includes(number))
  const files = new Set(reaching.filter(({ test }) => test === '').map(({ file }) => file))
  const direct = new Set(reaching.filter(({ test }) => test !== ''))
  const loading = tests.filter(one => one.test !== '' && files.has(one.file) && !direct.has(one))
  let cpu = 0
  const affordable = [[...direct], loading]
    .flatMap(all => all.toSorted((a, b) => a.cpu - b.cpu))
    .filter((one, i) => (cpu += one.cpu) < maxDuration || i === 0)
  const byFile = Map.groupBy(affordable, ({ file }) => file)
  return {
    number,
    tests: Array.from(byFile, ([file, all]) => ({ file, names: all.map(({ test }) => test) })),
    cpu,
  }
}

/** Judges as many mutations as one process can, at least one. */
async function judge(source: Source, batch: readonly Wanting[]): Promise<ReadonlyMap<Wanting, Outcome>> {
  const runs = batch.map(({ number, tests }) => ({ mutation: source.mutations[number]!, tests }))
  const verdicts: Verdict[] = []
  const job: Job = { kind: 'mutate', source: source.path, copied: dependentsOf(source.path), runs }
  const maxCpu = 2_000 + 3 * Math.max(...batch.map(({ cpu }) => cpu))
  const isHung = await work<Verdict>(job, maxCpu, verdict => verdicts.push(verdict))
  const [first] = batch
  const ended = verdicts.length
  if (ended === 0 || batch.length === 1)
    return new Map([[first!, verdicts[0] ? outcomeOf(verdicts[0]) : isHung ? 'hung' : 'caught']])
  // Those before one that ended the process are tried again without it.
  if (ended < batch.length) return judge(source, batch.slice(0, ended))
  const isSound = verdicts[batch.length]?.failed === false
  const judged = new Map<Wanting, Outcome>()
  for (const [i, one] of batch.entries()) {
    const verdict = verdicts[i]!
    // A failure that may be left from an earlier run is tried again in a process of its own.
    const isClear = isSound || !verdict.failed
    judged.set(one, isClear ? outcomeOf(verdict) : (await judge(source, [one])).get(one)!)
  }
  return judged
}

function outcomeOf({ failed }: Verdict): Outcome {
  return failed ? 'caught' : 'survives'
}

function summary(outcomes: readonly Outcome[]): string {
  const count = (...of: readonly Outcome[]) => outcomes.filter(one => of.includes(one)).length
  const good = count('caught', 'hung', 'equivalent')
  return (
    `${outcomes.length} mutations: ${count('caught')} caught, ${count('hung')} timed out, ${count('equivalent')} equivalent, ` +
    `${count('survives', 'unreached')} survive (${count('unreached')} unreached): ${percentage(good, outcomes.length)}`
  )
}

function percentage(part: number, whole: number): string {
  return `${(Math.floor((1_000 * part) / whole) / 10).toFixed(1)} %`
}

function describe({ path, text }: Source, mutation: Mutation): string {
  return `  ${path}:${lineOf(text, mutation.start)}\n    ${linesOf({ text }, mutation).join('\n    ')}`
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

/** Returns the lines of a mutation, before and after it. */
function linesOf({ text }: { readonly text: string }, mutation: Mutation): readonly [string, string] {
  const first = text.lastIndexOf('\n', mutation.start) + 1
  const rest = (text: string, end: number) => text.slice(first, end).replaceAll(/\s+/g, ' ').trim()
  const last = text.indexOf('\n', mutation.end)
  return [
    rest(text, last),
    rest(mutate(text, mutation), last + mutation.text.length - (mutation.end - mutation.start)),
  ]
}
