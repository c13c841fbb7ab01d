// Runs tests again and again in one process, with one mutation after another: each run loads copies of the mutated file and of what
// imports it, the tests included. Writes what comes of each run to descriptor 3, a line each.

import { readFileSync, writeSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { Coverage } from '../fuzz/engine/coverage.ts'
import { root } from '../help/source.ts'
import { enter, Run } from './node-test.ts'
import { type Mutation, mutate, strip } from './operators.ts'

/** Tests of one file, by name. */
export interface Wanted {
  readonly file: string
  readonly names: readonly string[]
}

/** What to run. Paths are relative to the project. */
export type Job =
  | {
      readonly kind: 'cover'
      readonly test: string
      /** Per source file, the positions of its mutations. */
      readonly positions: Readonly<Record<string, readonly number[]>>
    }
  | {
      readonly kind: 'mutate'
      readonly source: string
      /** The files of which each run has copies, beside all of the tests. */
      readonly copied: readonly string[]
      readonly runs: readonly { readonly mutation: Mutation; readonly tests: readonly Wanted[] }[]
    }

/** A test without a mutation: the ms of CPU that it takes, and the numbers of the mutations that it reaches, per source file. */
export interface Covered {
  readonly test: string
  readonly cpu: number
  readonly reached: Readonly<Record<string, readonly number[]>>
}

/** What comes of a run with a mutation; behind the last one, of the tests that failed, without one. */
export interface Verdict {
  readonly failed: boolean
}

const job: Job = JSON.parse(readFileSync(0, 'utf8'))
const marker = /\?run=(\d+)$/
const urlOf = (path: string) => pathToFileURL(join(root, path)).href
const copied = new Set(job.kind === 'mutate' ? job.copied.map(urlOf) : [])
/** All of the tests, since any of it may declare some. */
const isCopied = (url: string) =>
  copied.has(url) || (url.startsWith(urlOf('test/')) && !url.includes('/mutants/'))
/** The sources of copies, without types. */
const sources = new Map<string, string>()

registerHooks({
  resolve(specifier, context, next) {
    const mark = marker.exec(context.parentURL ?? '')?.[0]
    if (mark === undefined) return next(specifier, context)
    if (specifier === 'node:test') return next(new URL('node-test.ts', import.meta.url).href, context)
    const resolved = next(specifier, context)
    return isCopied(resolved.url) ? { ...resolved, url: resolved.url + mark } : resolved
  },
  load(url, context, next) {
    const number = marker.exec(url)?.[1]
    if (number === undefined) return next(url, context)
    const path = url.slice(0, url.indexOf('?'))
    const known = sources.get(path) ?? strip(readFileSync(new URL(path), 'utf8'))
    sources.set(path, known)
    const mutation =
      job.kind === 'mutate' && path === urlOf(job.source) ? job.runs[Number(number)]?.mutation : null
    return { format: 'module', source: mutation ? mutate(known, mutation) : known, shortCircuit: true }
  },
})

if (job.kind === 'mutate') await judge(job)
else await cover(job)
process.exit()

async function judge({ runs }: Job & { kind: 'mutate' }): Promise<void> {
  const failing: Wanted[] = []
  for (const [number, { tests }] of runs.entries()) {
    const failed = await attempt(tests, number)
    if (failed) failing.push(failed)
    tell({ failed: failed !== null } satisfies Verdict)
  }
  // Without a mutation, they fail only if one of the runs left the process other than it found it.
  tell({ failed: (await attempt(failing, runs.length)) !== null } satisfies Verdict)
}

/** Runs tests until one of them fails, which it returns. */
async function attempt(tests: readonly Wanted[], number: number): Promise<Wanted | null> {
  for (const [file, all] of Map.groupBy(tests, one => one.file)) {
    const wanted = new Set(all.flatMap(one => one.names))
    const run = new Run(name => wanted.has(name))
    enter(run)
    await load(file, number, run)
    await run.end()
    if (run.failed !== null) return { file, names: [run.failed] }
  }
  return null
}

async function cover({ test, positions }: Job & { kind: 'cover' }): Promise<void> {
  // V8 does not count all calls of what it has optimized.
  for (const flag of ['--no-opt', '--no-maglev']) setFlagsFromString(flag)
  const coverage = new Coverage()
  coverage.watch(Object.keys(positions))
  let began = 0
  const look = () => {
    const found = coverage.look()
    return Object.fromEntries(
      Object.entries(positions).flatMap(([path, all]) => {
        const map = found.get(urlOf(path))
        return map ? [[path, [...all.keys()].filter(i => map[all[i]!] === 1)]] : []
      }),
    )
  }
  const told: Covered[] = []
  const run = new Run(
    () => true,
    (name, isOver) => {
      const { user, system } = process.cpuUsage()
      const cpu = (user + system) / 1_000
      const reached = look()
      // What is reached between tests is reached by loading.
      told.push({ test: isOver ? name : '', cpu: isOver ? cpu - began : 0, reached })
      const after = process.cpuUsage()
      began = (after.user + after.system) / 1_000
    },
  )
  enter(run)
  await load(test, 0, run)
  await run.end()
  if (run.failed === null) for (const one of told) tell(one)
}

async function load(file: string, number: number, run: Run): Promise<void> {
  try {
    await import(`${urlOf(file)}?run=${number}`)
  } catch {
    run.failed ??= file
  }
  await run.settle()
}

function tell(value: Covered | Verdict): void {
  // These two end lines for who reads them, and names of tests may have them.
  const line = JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  writeSync(3, `${line}\n`)
}
