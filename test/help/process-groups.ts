// Which files of tests share a process: a process of its own costs a file as much as dozens of its tests.

import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './source.ts'

/** Files, relative to the project, that run in one process, one after another. */
export type Group = readonly string[]

/** The most files of a group: to load what they try costs more than most of them, but who waits for the last group waits for all of it. */
const most = 40
/** The most where files start programs of ours, which take their time. */
const mostStarting = 6

/** What takes longest, most first: it begins before all else, lest the others wait for it at the end, and has a process of its own. */
export const longest: ReadonlySet<string> = new Set([
  'test/journeys/upgrade.test.ts',
  'test/dashboard/all-pages.browser.test.ts',
  'test/journeys/killed-streams.test.ts',
  'test/journeys/restart.test.ts',
  'test/store/redis/server/failover.test.ts',
  'test/journeys/memory.test.ts',
  'test/store/redis/away.test.ts',
  'test/admin/stall.test.ts',
  'test/journeys/known-tokens.test.ts',
  'test/journeys/log-export.test.ts',
  'test/store/redis/server/sentinel.test.ts',
  'test/journeys/ai-gateway.test.ts',
  'test/journeys/first-hour.browser.test.ts',
  'test/journeys/acme.test.ts',
])

/** Makes groups of all files of tests: of neighbours where they may share a process, or of one file; in the order to begin them, shorter ones last. */
export function processGroups(): readonly Group[] {
  const files = globSync('test/**/*.test.ts', { cwd: root })
    .map(path => path.split(sep).join('/'))
    .filter(file => !longest.has(file))
    .sort()
  const sociable = files.filter(file => reasonsToBeAlone(file).length === 0)
  // The last ones by name, those of the wire, wait longest.
  const computing = evenly(
    sociable.filter(file => !startsPrograms(file)),
    most,
  ).toReversed()
  const starting = evenly(sociable.filter(startsPrograms), mostStarting)
  const shared = [...evenly(files.filter(sharesBrowser), most), ...mixed([computing, starting])]
  const inGroups = new Set(shared.flat())
  const alone = files.filter(file => !inGroups.has(file))
  return [...[...longest].map(file => [file]), ...shared, ...alone.map(file => [file])]
}

/** Tests of single pages share a process, and a browser, whose start would cost them as much as what they try. */
export function sharesBrowser(file: string): boolean {
  return /^test\/(?:dashboard|errors|pages|oauth-server)\/.*\.browser\.test\.ts$/.test(file)
}

/** Spreads each list evenly: some groups compute, and others mostly wait for the processes that they have started. */
function mixed(lists: readonly (readonly Group[])[]): readonly Group[] {
  return lists
    .flatMap(list => list.map((group, i) => ({ group, at: (i + 0.5) / list.length })))
    .toSorted((a, b) => a.at - b.at)
    .map(({ group }) => group)
}

/** Writes the module that runs a group, and returns its path, by whose number groups begin in order. */
export function writeEntry(folder: string, group: Group, number: number): string {
  const [first, ...others] = group.map(file => resolve(root, file))
  const name = group[0]!.split('/').slice(-2).join('-')
  const entry = join(
    folder,
    `${String(number).padStart(3, '0')}-${name}${others.length > 0 ? '-and-others' : ''}.mjs`,
  )
  const helper = pathToFileURL(join(root, 'test/help/shared-process.ts')).href
  writeFileSync(
    entry,
    others.length === 0
      ? `import ${JSON.stringify(pathToFileURL(first!).href)}\n`
      : `import { shareProcess } from ${JSON.stringify(helper)}\nawait shareProcess(${JSON.stringify([first, ...others])})\n`,
  )
  return entry
}

/** Divides files into as few groups as may be, of much the same size and of neighbours, which load much the same. */
function evenly(files: Group, most: number): readonly Group[] {
  const groups = Math.ceil(files.length / most)
  const begin = (i: number) => Math.round((i * files.length) / groups)
  return Array.from({ length: groups }, (_, i) => files.slice(begin(i), begin(i + 1)))
}

/** What starts threads and browsers, or looks at this process from outside. */
const modules = new Set(['node:cluster', 'node:v8', 'node:vm', 'node:worker_threads', 'playwright-core'])

/** What belongs to a process as a whole, and hooks, which would be those of all tests in it. What follows a comma is code for another process. */
const traces =
  /(?<!,)\bprocess\.(?:on|once|emit|exit|chdir|umask|memoryUsage|cpuUsage|resourceUsage)\b|\bprocess\.kill\(process\.pid\b|\bprocess\.env\S* = |\bdelete process\.env|\bObject\.assign\((?:globalThis|process)|\bmonitorEventLoopDelay|\bgc\(|(?<!\bt\.)\bmock\.(?:timers|method)|^(?:before|after|beforeEach|afterEach)\(/gm

/** What starts Node: programs of ours. Servers and commands of others end with their tests. */
const programs = /\bprocess\.execPath\b|\bfork\(/

/** Imports of values: those of types alone load nothing. */
const specifiers = /(?:^(?:import|export)\b(?! type\b)[^'"`]*?\bfrom |^import |\bimport\()'([^']+)'/gm

/** Returns what a file of `test`, or what it imports from there, has to do with its process, for which it needs one of its own. */
export function reasonsToBeAlone(file: string): readonly string[] {
  return contentsOf(file).flatMap(({ reasons }) => reasons)
}

/** Whether a file of `test`, or what it imports from there, starts Node, for which few such files share a process. */
export function startsPrograms(file: string): boolean {
  return contentsOf(file).some(({ starts }) => starts)
}

interface Content {
  readonly reasons: readonly string[]
  readonly starts: boolean
  /** What it imports from `test`. */
  readonly helpers: readonly string[]
}

/** Returns those of a file and of all that it imports from `test`. */
function contentsOf(file: string): readonly Content[] {
  const seen = new Set([file])
  // A set also yields what is added to it on the way.
  return [
    ...seen.values().map(path => {
      const content = contentOf(path)
      for (const helper of content.helpers) seen.add(helper)
      return content
    }),
  ]
}

const contents = new Map<string, Content>()

function contentOf(file: string): Content {
  const known = contents.get(file)
  if (known) return known
  const text = readFileSync(join(root, file), 'utf8')
  const imports = [...text.matchAll(specifiers)].map(([, name]) => name!)
  const content = {
    reasons: [
      ...imports.filter(name => modules.has(name)),
      ...[...text.matchAll(traces)].map(([trace]) => trace),
    ],
    starts: imports.includes('node:child_process') && programs.test(text),
    helpers: imports
      .filter(name => name.startsWith('.') && name.endsWith('.ts'))
      .map(name =>
        relative(root, resolve(root, dirname(file), name))
          .split(sep)
          .join('/'),
      )
      .filter(path => path.startsWith('test/')),
  }
  contents.set(file, content)
  return content
}
