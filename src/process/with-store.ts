// A store for the length of one command.

import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { tell } from './terminal.ts'

/** Opens a store for one use, whose exit code it returns; whatever fails is told in a sentence, and 1. Nobody waits for a command but the operator. */
export async function withStore(url: string, use: (store: Store) => Promise<number>): Promise<number> {
  let opened: Store | null = null
  try {
    const store = await openStore(url, { commandTimeout })
    opened = store
    return await use(store)
  } catch (cause) {
    tell(`gatehouse: ${(cause as Error).message}`)
    return 1
  } finally {
    await opened?.close()
  }
}

const commandTimeout = 5_000
