// What an empty store is given at the first start: an account, its gateway `default`, closed to everybody without a token, and one token that may do everything.

import { randomBytes } from 'node:crypto'
import type { Gateway } from '../store/records.ts'
import { type Store, StoreAway } from '../store/store.ts'
import { permissionGroups } from '../tokens/permission-groups.ts'
import { newToken } from './new-token.ts'

/** What is told once, and never again. */
export interface FirstStart {
  readonly account: string
  readonly gateway: string
  /** The value of the token. */
  readonly token: string
}

/** How long to wait for a store that is away before it is asked again, in ms. */
const patience = 1_000

/** Fills an empty store; null when it is not empty, also when another process was faster. Rejects with `StoreAway`. */
export async function fillEmptyStore(store: Store, now: number): Promise<FirstStart | null> {
  if ((await store.accounts.list()).length > 0) return null
  const account = { id: randomBytes(16).toString('hex'), name: 'default', createdAt: now }
  const groups = permissionGroups.map(({ id }) => id)
  const { token, value } = newToken({ account: account.id, name: 'bootstrap', groups, now })
  const gateway = defaultGateway(account.id, now)
  const isOurs = await store.bootstrap({ account, gateway, token })
  return isOurs ? { account: account.id, gateway: gateway.id, token: value } : null
}

/** Fills the store as soon as it can be reached, and tells of it; gives what ends the waiting. Whatever else is wrong is told as well. */
export function fillWhenReached(
  store: Store,
  told: (first: FirstStart) => void,
  failed: (cause: unknown) => void,
): () => void {
  let timer: NodeJS.Timeout
  const attempt = async () => {
    try {
      const first = await fillEmptyStore(store, Date.now())
      if (first) told(first)
    } catch (cause) {
      if (!(cause instanceof StoreAway)) return failed(cause)
      timer = setTimeout(attempt, patience).unref()
    }
  }
  timer = setTimeout(attempt).unref()
  return () => clearTimeout(timer)
}

function defaultGateway(account: string, now: number): Gateway {
  return {
    account,
    id: 'default',
    authentication: true,
    collectLogs: true,
    logManagement: 100_000,
    logManagementStrategy: 'DELETE_OLDEST',
    createdAt: now,
    modifiedAt: now,
  }
}
