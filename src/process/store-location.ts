// Where the store of a configuration is: what it names, else a file in the data folder.

import { join } from 'node:path'
import type { Config } from '../config/schema.ts'

/** Returns the URL for `openStore`; the data folder is GATEHOUSE_DATA, else `data` where the process was started. */
export function storeLocation({ store }: Config, env: NodeJS.ProcessEnv = process.env): string {
  return store.url ?? `sqlite:${join(env.GATEHOUSE_DATA || 'data', 'gatehouse.db')}`
}
