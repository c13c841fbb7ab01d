// A store for the length of one command.

import { openStore, type StoreOptions } from '../../store/open.ts'
import { type Store, StoreUnreachable } from '../../store/store.ts'
import { tell } from '../commands/terminal.ts'

/** Opens a store for one use, and returns its exit code; failures are printed as a sentence, with exit code 1. Only the operator waits for a command. */
export async function withStore(
  url: string,
  use: (store: Store) => Promise<number>,
  options: Pick<StoreOptions, 'mustExist' | 'ca' | 'sentinel'> = {},
): Promise<number> {
  let opened: Store | null = null
  try {
    const store = await openStore(url, { commandTimeout, ...options })
    opened = store
    return await use(store)
  } catch (cause) {
    const place = cause instanceof StoreUnreachable && opened ? `${opened.location}: ` : ''
    tell(`gatehouse: ${place}${(cause as Error).message}`)
    if (opened && cause instanceof StoreUnreachable && cause.reason === 'NOPERM')
      for (const denial of await opened.rights().catch(() => [])) tell(denial)
    return 1
  } finally {
    await opened?.close()
  }
}

const commandTimeout = 5_000
