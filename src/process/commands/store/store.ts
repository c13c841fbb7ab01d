// `gatehouse store copy` and `gatehouse store move`: a backup of the store, or its continuation elsewhere.

import { readFileSync } from 'node:fs'
import type { Reading } from '../../../base/text/quantity.ts'
import { loadConfig } from '../../../config/load/load.ts'
import { resolveReferences } from '../../../config/file/references.ts'
import { accept } from '../../../config/shape/rules.ts'
import { storeUrl } from '../../../config/settings/store-url.ts'
import { type CopyReport, copyStore, inWords, moveStore } from '../../../store/copy.ts'
import type { Mark } from '../../../store/contract/mark.ts'
import type { Store } from '../../../store/contract/store.ts'
import { configPath, type Input } from '../input.ts'
import { otherUsers } from '../../store/other-users.ts'
import { storeDialling } from '../../store/location.ts'
import { json } from '../../terminal/format.ts'
import { complain, print, tell } from '../../terminal/output.ts'
import { withStore } from '../../store/with-store.ts'

export async function copy(input: Input): Promise<number> {
  const places = placesOf(input, 'copy')
  if (typeof places === 'number') return places
  const { from, dialling } = places
  let before: Mark | null = null
  const work = async (source: Store, target: Store) => {
    // If the store fails, the copy reports it.
    await warnOfUsers(source).catch(() => {})
    before = await source.mark().catch(() => null)
    report('Copied', { source, target, asJson: input.json }, await copyStore(source, target))
    return 0
  }
  const code = await between(places, work, { isSnapshot: true })
  if (code !== 0) return code
  // A snapshot does not show later changes.
  return withStore(from, source => warnOfChanges(source, before), { ...dialling, isAnyMark: true })
}

/** From the start of the move until it is interrupted, no change in the old store is confirmed. */
export async function move(input: Input): Promise<number> {
  const places = placesOf(input, 'move')
  if (typeof places === 'number') return places
  const interruption = new AbortController()
  const interrupt = () => interruption.abort(new Error('interrupted; run the same command again to move it'))
  // The second one ends the command at once.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, interrupt)
  return between(places, async (source, target) => {
    const { signal } = interruption
    report('Moved', { source, target, asJson: input.json }, await moveStore(source, target, { signal }))
    tell(
      'Gateways on the old store serve by what they know and confirm no change. Set `store.url` to the new one, and run gatehouse upgrade.',
    )
    return 0
  })
}

interface Places {
  readonly from: string
  readonly to: string
  readonly dialling: ReturnType<typeof storeDialling>
}

function placesOf(input: Input, verb: 'copy' | 'move'): Places | number {
  const { from, to } = input
  if (from === undefined || to === undefined)
    return complain(
      `missing option '${from === undefined ? '--from' : '--to'}'; usage: gatehouse store ${verb} --from URL --to URL`,
    )
  const [source, target] = [resolve(from), resolve(to)]
  if ('flaw' in source) return complain(`--from ${source.flaw}`)
  if ('flaw' in target) return complain(`--to ${target.flaw}`)
  return { from: source.value, to: target.value, dialling: diallingOf(input) }
}

function between(
  { from, to, dialling }: Places,
  work: (source: Store, target: Store) => Promise<number>,
  options: { readonly isSnapshot?: boolean } = {},
): Promise<number> {
  const terms = { ...dialling, isAnyMark: true }
  const withBoth = (source: Store) => withStore(to, target => work(source, target), terms)
  return withStore(from, withBoth, { ...terms, ...options, mustExist: true })
}

async function warnOfUsers(source: Store): Promise<void> {
  const users = await otherUsers(source)
  if (users === null) return
  const what =
    source.peers === null ? 'is not in the copy' : 'may be missing in the copy, or be there in part'
  tell(
    `gatehouse: warning: ${source.location} is in use (${users}); what is written to it from now on ${what}`,
  )
  tell('To go on with the other store without loss, run gatehouse store move instead.')
}

async function warnOfChanges(source: Store, before: Mark | null): Promise<number> {
  const after = await source.mark()
  const changes = before === null || after === null ? 0 : after.generation - before.generation
  if (changes > 0)
    tell(
      `gatehouse: warning: ${changes === 1 ? '1 change was' : `${changes} changes were`} made in ${source.location} since the copy began`,
    )
  return 0
}

function diallingOf(input: Input): ReturnType<typeof storeDialling> {
  const loaded = loadConfig(configPath(input))
  return 'config' in loaded ? storeDialling(loaded.config) : {}
}

/** Accepts references: every user of the machine can read a password in the arguments. */
function resolve(written: string): Reading<string> {
  const text = resolveReferences(written, { env: process.env, readFile: path => readFileSync(path, 'utf8') })
  if ('flaw' in text) return text
  const read = storeUrl(text.value)
  return 'flaw' in read ? read : accept(read.value ?? undefined, 'must not be empty')
}

function report(verb: string, { source, target, asJson = false }: Ends, copied: CopyReport): void {
  tell(`${verb} ${inWords(copied)} from ${source.location} to ${target.location}.`)
  if (asJson) print(json({ from: source.location, to: target.location, copied: inSnakeCase(copied) }))
}

interface Ends {
  readonly source: Store
  readonly target: Store
  readonly asJson?: boolean | undefined
}

function inSnakeCase(counts: CopyReport): Readonly<Record<string, number>> {
  const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [snake(name), count]))
}
