// Where the store of a configuration is: what it names, else a file in the data folder.

import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import type { StoreOptions } from '../../store/open.ts'

/** Returns the URL for `openStore`. */
export function storeLocation({ store }: Config, env: NodeJS.ProcessEnv = process.env): string {
  return store.url ?? `sqlite:${join(dataFolder(env), 'gatehouse.db')}`
}

/** Returns what `openStore` is told beside the URL. */
export function storeDialling({ store }: Config): Pick<StoreOptions, 'ca' | 'sentinel'> {
  const { ca, sentinelUsername: username, sentinelPassword: password } = store
  return { ca, sentinel: { username, password } }
}

/** Returns the folder for what is kept on this machine: GATEHOUSE_DATA, else `data` where the process was started. */
export function dataFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env.GATEHOUSE_DATA || 'data'
}
