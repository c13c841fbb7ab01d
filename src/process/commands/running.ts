// `gatehouse reload` and `gatehouse upgrade`: have the gateway of a configuration apply it, or replaced by a new process from the code on disk, and wait for it.

import { resolve } from 'node:path'
import { loadConfig } from '../../config/file/load.ts'
import { command } from '../gateway/handover.ts'
import { adminOf, runningHere } from '../gateway/presence.ts'
import { configPath, type Input } from './input.ts'
import { isUsable } from './mistakes.ts'
import { tell } from './terminal.ts'
import { urlOf } from '../url.ts'

export function reload(input: Input): Promise<number> {
  return ask('reload', input)
}

export function upgrade(input: Input): Promise<number> {
  return ask('upgrade', input)
}

/** Returns 0 once the gateway has done it; 1 where it has not, or none runs, 2 for a configuration with mistakes. */
async function ask(name: 'reload' | 'upgrade', input: Input): Promise<number> {
  const path = configPath(input)
  const loaded = loadConfig(path, process.env, { given: { admin: input.admin } })
  if (!isUsable(path, loaded)) return 2
  const { admin } = loaded.config
  const outcome = await command(name, admin)
  // Where the file names another side port now, or the gateway was started with --admin, that one has another.
  const mayBeElsewhere = outcome === undefined && input.admin === undefined
  const reason = mayBeElsewhere ? await commandElsewhere(name, resolve(path)) : outcome
  if (reason === null) return 0
  tell(`gatehouse: ${reason ?? `no gateway with this data folder responds at ${urlOf(admin)}`}`)
  return 1
}

/** Passes the command to the gateway that was started with a file and this data folder, wherever its side port is; undefined where none runs here. */
async function commandElsewhere(
  name: 'reload' | 'upgrade',
  file: string,
): Promise<string | null | undefined> {
  const late = AbortSignal.timeout(patience)
  const found = await Promise.all(runningHere().map(pid => adminOf(pid, late).catch(() => null)))
  const admin = found.find(one => one?.file === file)
  return admin == null ? undefined : command(name, admin)
}

/** In ms. */
const patience = 2_000
