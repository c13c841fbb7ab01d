// What an empty store is given at the first start: an account, its gateway `default`, closed to everybody without a token, and one token that may do everything.

import { randomBytes } from 'node:crypto'
import type { Gateway } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { newToken } from '../tokens/new-token.ts'
import { permissionGroups } from '../tokens/permission-groups.ts'

/** What is told once, and never again. */
export interface FirstStart {
  readonly account: string
  readonly gateway: string
  /** The value of the token. */
  readonly token: string
}

/** Fills an empty store; null when it is not empty, also when another process was faster. Rejects with `StoreAway`. */
export async function fillEmptyStore(store: Store, now: number): Promise<FirstStart | null> {
  if ((await store.accounts.list()).length > 0) return null
  const account = { id: randomBytes(16).toString('hex'), name: 'default', createdAt: now }
  const everything = {
    effect: 'allow',
    permissionGroups: permissionGroups.map(({ id }) => id),
    accounts: [account.id],
  } as const
  const { token, value } = newToken(account.id, { name: 'bootstrap', policies: [everything] }, now)
  const gateway = defaultGateway(account.id, now)
  const isOurs = await store.bootstrap({ account, gateway, token })
  return isOurs ? { account: account.id, gateway: gateway.id, token: value } : null
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
