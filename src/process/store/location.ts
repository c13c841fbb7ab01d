// The location of the store: the one in the configuration, else a file in the data folder.

import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import type { StoreOptions } from '../../store/open.ts'
import type { Store } from '../../store/store.ts'

/** Returns the URL for `openStore`. */
export function storeLocation({ store }: Config, env: NodeJS.ProcessEnv = process.env): string {
  return store.url ?? `sqlite:${join(dataFolder(env), 'gatehouse.db')}`
}

/** Returns the options of `openStore` besides the URL. */
export function storeDialling({ store }: Config): Pick<StoreOptions, 'ca' | 'sentinel'> {
  const { ca, sentinelUsername: username, sentinelPassword: password } = store
  return { ca, sentinel: { username, password } }
}

/** Returns the path of a local copy of what is in a store; null for a store in a file, which is available whenever its process is. */
export function copyPath({ location }: Pick<Store, 'location'>, name: string): string | null {
  return location.startsWith('sqlite:') ? null : join(dataFolder(), name)
}

/** Returns the folder for local data: GATEHOUSE_DATA, else `data` in the working directory. */
export function dataFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env.GATEHOUSE_DATA || 'data'
}
