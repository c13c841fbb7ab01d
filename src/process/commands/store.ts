// `gatehouse store copy`: copies everything from one store into an empty one, to move from a file to Redis or back.

import { readFileSync } from 'node:fs'
import type { Reading } from '../../base/text/quantity.ts'
import { loadConfig } from '../../config/file/load.ts'
import { resolveReferences } from '../../config/file/references.ts'
import { accept } from '../../config/settings/rules.ts'
import { storeUrl } from '../../config/settings/store-url.ts'
import { type CopyReport, copyStore, inWords } from '../../store/copy.ts'
import type { Store } from '../../store/store.ts'
import { configPath, type Input } from './input.ts'
import { storeDialling } from '../store/location.ts'
import { json } from './table.ts'
import { complain, print, tell } from './terminal.ts'
import { withStore } from '../store/with-store.ts'

/** Returns 0 when everything was copied, 1 when a store refuses, 2 for invalid arguments. */
export async function store(input: Input): Promise<number> {
  const { from, to } = input
  if (from === undefined || to === undefined)
    return complain(
      `missing option '${from === undefined ? '--from' : '--to'}'; usage: gatehouse store copy --from URL --to URL`,
    )
  const [source, target] = [resolve(from), resolve(to)]
  if ('flaw' in source) return complain(`--from ${source.flaw}`)
  if ('flaw' in target) return complain(`--to ${target.flaw}`)
  const dialling = diallingOf(input)
  const copyTo = (here: Store) => withStore(target.value, there => copy(here, there, input.json), dialling)
  return withStore(source.value, copyTo, { ...dialling, mustExist: true })
}

/** Returns the store settings of the configuration other than its URL, where a valid configuration is found. */
function diallingOf(input: Input): ReturnType<typeof storeDialling> {
  const loaded = loadConfig(configPath(input))
  return 'config' in loaded ? storeDialling(loaded.config) : {}
}

/** Accepts the same references as the configuration, so that a password need not be on the command line, where every user of the machine can read it. */
function resolve(written: string): Reading<string> {
  const text = resolveReferences(written, { env: process.env, readFile: path => readFileSync(path, 'utf8') })
  if ('flaw' in text) return text
  const read = storeUrl(text.value)
  return 'flaw' in read ? read : accept(read.value ?? undefined, 'must not be empty')
}

async function copy(source: Store, target: Store, asJson = false): Promise<number> {
  const copied = await copyStore(source, target)
  tell(`Copied ${inWords(copied)} from ${source.location} to ${target.location}.`)
  if (asJson) print(json({ from: source.location, to: target.location, copied: inSnakeCase(copied) }))
  return 0
}

function inSnakeCase(counts: CopyReport): Readonly<Record<string, number>> {
  const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [snake(name), count]))
}
