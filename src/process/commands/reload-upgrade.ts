// `gatehouse reload` and `gatehouse upgrade`: start it, and wait for the outcome.

import { resolve } from 'node:path'
import type { Endpoint } from '../../config/model/config.ts'
import { loadConfig } from '../../config/load/load.ts'
import { command } from '../handover/takeover.ts'
import type {
  ChangesReport,
  ProcessReport,
  ReloadReport,
  UpgradeReport,
} from '../handover/command-reports.ts'
import { gatewaysHere } from '../ports/presence.ts'
import { configPath, type Input } from './input.ts'
import { isUsable } from '../terminal/config-mistakes.ts'
import { columns } from '../terminal/format.ts'
import { refuse, printResult } from '../terminal/output.ts'
import { urlOf } from '../ports/urls.ts'

export function reload(input: Input): Promise<number> {
  return ask('reload', input, reloadText)
}

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
  const configured = loaded.config.admin
  const sidePorts = input.admin === undefined ? await sidePortsOf(resolve(path), configured) : [configured]
  if (sidePorts.length > 1)
    return refuse(
      `several gateways run with ${path}: choose one with --admin, at ${sidePorts.map(addressOf).join(' or ')}`,
    )
  const admin = sidePorts[0]!
  const outcome = await command(name, admin)
  if (typeof outcome !== 'object')
    return refuse(outcome ?? `no gateway with this data folder responds at ${urlOf(admin)}`)
  return printResult(input, outcome, textOf(outcome))
}

/**
 * Returns the side ports of the gateways started with a file: --admin or a later change of it may have moved
 * them from the configured one, which may then belong to another gateway.
 */
async function sidePortsOf(file: string, configured: Endpoint): Promise<readonly Endpoint[]> {
  const gateways = (await gatewaysHere()).filter(gateway => gateway.file === file)
  if (gateways.length === 0 || gateways.some(({ port }) => port === configured.port)) return [configured]
  // A gateway that is being replaced shares the port of its successor.
  return [...new Map(gateways.map(gateway => [gateway.port, gateway])).values()]
}

function addressOf(endpoint: Endpoint): string {
  return new URL(urlOf(endpoint)).host
}

/** Older gateways report nothing. */
function reloadText({ changed, added = [], removed = [], latest = null }: Partial<ReloadReport>): string {
  if (changed === undefined) return 'The configuration is in effect.\n'
  const rows = rowsOf({ changed, added, removed })
  if (rows.length > 0) return `The configuration is in effect:\n${columns(rows)}`
  if (latest === null) return 'No changes: the configuration was in effect already.\n'
  return `No changes: Gatehouse applied the file already, at ${latest.at}:\n${columns(rowsOf(latest))}`
}

const maxNamed = 20

function rowsOf({ changed, added, removed }: ChangesReport): string[][] {
  const rows = Object.entries({ changed, added, removed }).flatMap(([what, paths]) =>
    paths.map(path => [`  ${what}`, path]),
  )
  const more = rows.length - maxNamed
  return more <= 0 ? rows : [...rows.slice(0, maxNamed), ['  and', `${more} more`]]
}

/** Older gateways report nothing. */
function upgradeText({ before, after, seconds = 0 }: Partial<UpgradeReport>): string {
  if (before === undefined || after === undefined) return 'A new process serves.\n'
  return `Upgraded in ${seconds.toFixed(1)} s: ${inWords(after)} serves; ${inWords(before)} finishes its requests and exits.\n`
}

function inWords({ pid, version }: ProcessReport): string {
  return `process ${pid} (${version ?? 'of unknown version'})`
}
