// `gatehouse reload` and `gatehouse upgrade`: have the gateway of a configuration apply it, or replaced by a new process from the code on disk, and wait for it.

import { resolve } from 'node:path'
import { loadConfig } from '../../config/file/load.ts'
import { type CommandOutcome, command } from '../gateway/handover.ts'
import type {
  ChangesReport,
  ProcessReport,
  ReloadReport,
  UpgradeReport,
} from '../gateway/operator-reports.ts'
import { adminOf, runningHere } from '../gateway/presence.ts'
import { configPath, type Input } from './input.ts'
import { isUsable } from './mistakes.ts'
import { columns, json } from './table.ts'
import { print, refuse } from './terminal.ts'
import { urlOf } from '../url.ts'

/** Returns 0 once the configuration is in effect; 1 where it is not, or no gateway runs, 2 for a configuration with mistakes. */
export function reload(input: Input): Promise<number> {
  return ask('reload', input, reloadText)
}

/** Returns 0 once another process serves; 1 where none does, or no gateway runs, 2 for a configuration with mistakes. */
export function upgrade(input: Input): Promise<number> {
  return ask('upgrade', input, upgradeText)
}

async function ask<Report extends object>(
  name: 'reload' | 'upgrade',
  input: Input,
  textOf: (report: Partial<Report>) => string,
): Promise<number> {
  const path = configPath(input)
  const loaded = loadConfig(path, process.env, { given: { admin: input.admin } })
  if (!isUsable(path, loaded)) return 2
  const { admin } = loaded.config
  const outcome = await command(name, admin)
  // Where the file names another side port now, or the gateway was started with --admin, that one has another.
  const mayBeElsewhere = outcome === undefined && input.admin === undefined
  const found = mayBeElsewhere ? await commandElsewhere(name, resolve(path)) : outcome
  if (typeof found !== 'object')
    return refuse(found ?? `no gateway with this data folder responds at ${urlOf(admin)}`)
  print(input.json ? json(found) : textOf(found))
  return 0
}

/** Describes a reload; a gateway of a version before reports nothing. */
function reloadText({ changed, added = [], removed = [], latest = null }: Partial<ReloadReport>): string {
  if (changed === undefined) return 'The configuration is in effect.\n'
  const rows = rowsOf({ changed, added, removed })
  if (rows.length > 0) return `The configuration is in effect:\n${columns(rows)}`
  if (latest === null) return 'No changes: the configuration was in effect already.\n'
  return `No changes: Gatehouse applied the file already, at ${latest.at}:\n${columns(rowsOf(latest))}`
}

/** How many settings are named at most; --json has all. */
const mostNamed = 20

function rowsOf({ changed, added, removed }: ChangesReport): string[][] {
  const rows = Object.entries({ changed, added, removed }).flatMap(([what, paths]) =>
    paths.map(path => [`  ${what}`, path]),
  )
  const more = rows.length - mostNamed
  return more <= 0 ? rows : [...rows.slice(0, mostNamed), ['  and', `${more} more`]]
}

/** Describes an upgrade; a gateway of a version before reports nothing. */
function upgradeText({ before, after, seconds = 0 }: Partial<UpgradeReport>): string {
  if (before === undefined || after === undefined) return 'A new process serves.\n'
  return `Upgraded in ${seconds.toFixed(1)} s: ${inWords(after)} serves; ${inWords(before)} finishes its requests and exits.\n`
}

function inWords({ pid, version }: ProcessReport): string {
  return `process ${pid} (${version ?? 'of unknown version'})`
}

/** Passes the command to the gateway that was started with a file and this data folder, wherever its side port is; undefined where none runs here. */
async function commandElsewhere(name: 'reload' | 'upgrade', file: string): Promise<CommandOutcome> {
  const late = AbortSignal.timeout(patience)
  const found = await Promise.all(runningHere().map(pid => adminOf(pid, late).catch(() => null)))
  const admin = found.find(one => one?.file === file)
  return admin == null ? undefined : command(name, admin)
}

/** In ms. */
const patience = 2_000
