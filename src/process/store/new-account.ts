// A new account, with a gateway `default` that requires a token; only a first start adds one.

import { newId } from '../../base/ids/id.ts'
import { nextRay } from '../../base/ids/ray.ts'
import { auditOf, commandLine } from '../../store/records/audit-entry.ts'
import type { Account, Gateway } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'

interface NewAccount {
  readonly account: Account
  readonly gateway: Gateway
}

/** Stores a further account with an entry in its audit log; rejects with `StoreUnreachable`. */
export async function createAccount(store: Store, name: string, now: number): Promise<NewAccount> {
  const made = newAccount(name, now)
  const { account, gateway } = made
  const origin = { account: account.id, caller: commandLine, now, address: '', ray: nextRay() }
  const audit = auditOf(
    origin,
    'create',
    { resourceKind: 'account', resource: account.id, resourceName: name },
    ['name'],
  )
  if (!(await store.accounts.insert(account, { gateway, audit })))
    throw new Error('two random account ids are the same')
  return made
}

export function newAccount(name: string, now: number): NewAccount {
  const account = { id: newId(), name, createdAt: now }
  const gateway: Gateway = {
    account: account.id,
    id: 'default',
    authentication: true,
    collectLogs: true,
    logManagement: 100_000,
    logManagementStrategy: 'DELETE_OLDEST',
    createdAt: now,
    modifiedAt: now,
  }
  return { account, gateway }
}
