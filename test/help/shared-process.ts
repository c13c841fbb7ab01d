// Runs the files of a group in this one process, as if each had its own: none may leave the process other than it found it.

import assert from 'node:assert/strict'
import { relative } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { root } from './source.ts'

/** Loads the files, whose tests then run one after another. A file that does not load is a test that fails, under its name. */
export async function shareProcess(files: readonly string[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let found: Traces | null = null
  let last = ''
  // To load files takes time that the first tests would miss.
  before(() => promise)
  const look = () => {
    const now = tracesNow()
    // What hooks have started for all tests is there before the first.
    const before = found ?? now
    const changed = [...new Set([...before.keys(), ...now.keys()])].filter(
      name => !Object.is(before.get(name), now.get(name)),
    )
    found = now
    assert.equal(changed.join(', '), '', `the test before, ${last}, left the process other than it found it`)
  }
  beforeEach(t => {
    // What a test changed, its subtests may find.
    if (!('fullName' in t) || t.fullName !== t.name) return
    try {
      look()
    } finally {
      last = t.name
    }
  })
  after(look)
  for (const file of files)
    await import(pathToFileURL(file).href).catch(error => {
      test(relative(root, file), () => {
        throw error
      })
    })
  resolve()
}

/** By name, what files of one process could disturb each other with. */
type Traces = ReadonlyMap<string, unknown>

function tracesNow(): Traces {
  return new Map<string, unknown>([
    ['process.cwd()', process.cwd()],
    ...Object.entries(process.env).map(([name, value]) => [`process.env.${name}`, value] as const),
    ...process
      .eventNames()
      .filter(name => !atExit.has(String(name)))
      .map(name => [`process.on(${String(name)})`, process.listenerCount(name)] as const),
    ...functions.map(([owner, name]) => [name, Reflect.get(owner, name)] as const),
  ])
}

/** Where packages clean up, who come and go with what they hold. */
const atExit = new Set(['exit', 'beforeExit'])

/** What mocks replace, with the object that has it. */
const functions = [globalThis, process, Date, Math, console].flatMap(owner =>
  Object.entries(Object.getOwnPropertyDescriptors(owner))
    .filter(([, { value }]) => typeof value === 'function')
    .map(([name]) => [owner, name] as const),
)
