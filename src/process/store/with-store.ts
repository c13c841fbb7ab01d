// A store for the length of one command.

import { openStore, type StoreOptions } from '../../store/open.ts'
import { originalIdentity } from '../../store/contract/mark.ts'
import { type Store, StoreDegraded, StoreUnreachable } from '../../store/contract/store.ts'
import { tell } from '../terminal/output.ts'

/** Opens a store for one use, and returns its exit code: 1, with a sentence, for failures. */
export async function withStore(
  url: string,
  use: (store: Store) => Promise<number>,
  {
    isAnyMark = false,
    ...options
  }: Pick<StoreOptions, 'mustExist' | 'isSnapshot' | 'ca' | 'sentinel'> & {
    /** Whether a moved store may be used: for commands that copy or accept it. */
    readonly isAnyMark?: boolean
  } = {},
): Promise<number> {
  let opened: Store | null = null
  try {
    const store = await openStore(url, { commandTimeout, ...options })
    opened = store
    if (!isAnyMark) await expectPresent(store)
    return await use(store)
  } catch (cause) {
    const place = cause instanceof StoreUnreachable && opened ? `${opened.location}: ` : ''
    tell(`gatehouse: ${place}${(cause as Error).message}`)
    if (cause instanceof StoreDegraded) tell(`${cause.remedy}.`)
    if (cause instanceof StoreUnreachable && cause.isDoubtful)
      tell('The change may or may not have been made: check before you repeat it.')
    if (opened && cause instanceof StoreUnreachable && cause.reason === 'NOPERM')
      for (const denial of await opened.rights().catch(() => [])) tell(denial)
    return 1
  } finally {
    await opened?.close()
  }
}

async function expectPresent(store: Store): Promise<void> {
  const mark = await store.mark()
  if (mark === null || mark.identity === null) return
  store.trust.expect({ ...mark, identity: originalIdentity(mark.identity), isBehind: false })
}

const commandTimeout = 5_000
