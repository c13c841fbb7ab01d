// The location of the store: the one in the configuration, else a file in the data folder.

import { homedir } from 'node:os'
import { isAbsolute, join, sep } from 'node:path'
import type { Config } from '../../config/model/config.ts'
import type { StoreOptions } from '../../store/open.ts'
import type { Store } from '../../store/contract/store.ts'

export function storeLocation({ store }: Config, env: NodeJS.ProcessEnv = process.env): string {
  return store.url ?? `sqlite:${join(dataFolder(env), 'gatehouse.db')}`
}

export function storeDialling({ store }: Config): Pick<StoreOptions, 'ca' | 'sentinel'> {
  const { ca, sentinelUsername: username, sentinelPassword: password } = store
  return { ca, sentinel: { username, password } }
}

/** Returns null for a store in a file, which is as available as its process. */
export function copyPath({ location }: Pick<Store, 'location'>, name: string): string | null {
  return location.startsWith('sqlite:') ? null : join(dataFolder(), name)
}

/** Where the export of AI log entries keeps what waits: on this machine, whatever the store is. */
export function spoolFolder(): string {
  return join(dataFolder(), 'log-export')
}

/** Nothing names the data folder, and the user has no home, as in containers with a user of any number. */
export class NoDataFolder extends Error {
  constructor() {
    super('this user has no home folder to keep data in: name a data folder with --data or GATEHOUSE_DATA')
  }
}

/** GATEHOUSE_DATA, else `data` in a checkout, else the `gatehouse` of the user's data. */
export function dataFolder(env: NodeJS.ProcessEnv = process.env, program = import.meta.filename): string {
  if (env.GATEHOUSE_DATA) return env.GATEHOUSE_DATA
  if (!program.includes(`${sep}node_modules${sep}`)) return 'data'
  return join(userData(env), 'gatehouse')
}

function userData({ XDG_DATA_HOME, LOCALAPPDATA }: NodeJS.ProcessEnv): string {
  // The specification requires ignoring a relative path.
  if (XDG_DATA_HOME && isAbsolute(XDG_DATA_HOME)) return XDG_DATA_HOME
  return LOCALAPPDATA || join(home(), '.local', 'share')
}

function home(): string {
  let path = ''
  try {
    path = homedir()
  } catch {
    // Without HOME, a user whom the system does not know has none.
  }
  if (!isAbsolute(path)) throw new NoDataFolder()
  return path
}
