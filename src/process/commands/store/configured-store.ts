// The store that a command works on directly, and the account there.

import { nextRay } from '../../../base/ids/ray.ts'
import { visible } from '../../../base/text/visible.ts'
import { loadConfig } from '../../../config/load/load.ts'
import type { Config } from '../../../config/model/config.ts'
import type { Store } from '../../../store/contract/store.ts'
import { isThere } from '../../../store/open.ts'
import { auditOf, commandLine, type Resource } from '../../../store/records/audit-entry.ts'
import type { Account, AuditAction, AuditEntry } from '../../../store/records/records.ts'
import { storeDialling, storeLocation } from '../../store/location.ts'
import { withStore } from '../../store/with-store.ts'
import { isUsable } from '../../terminal/config-mistakes.ts'
import { refuse, tell } from '../../terminal/output.ts'
import { configPath, type Input } from '../input.ts'

export async function withConfiguredStore(
  input: Input,
  use: (store: Store, config: Config) => Promise<number>,
): Promise<number> {
  const path = configPath(input)
  const loaded = loadConfig(path)
  if (!isUsable(path, loaded)) return 2
  const { config } = loaded
  const location = storeLocation(config)
  // A mistyped folder would otherwise get an empty store of its own, beside the intended one.
  if (!isThere(location))
    return refuse(
      `there is no store ${location}; start the gateway once to create it, name its data folder with --data, ` +
        'or restore it if it was removed',
    )
  return withStore(location, store => use(store, config), storeDialling(config))
}

/** As `withConfiguredStore`, with the account of `--account`, or the only one. */
export function withAccount(
  input: Input,
  use: (store: Store, account: string, config: Config) => Promise<number>,
): Promise<number> {
  return withConfiguredStore(input, async (store, config) => {
    const account = await chosenAccount(store, input.account)
    return typeof account === 'number' ? account : use(store, account, config)
  })
}

export function auditHere(
  account: string,
  action: AuditAction,
  resource: Resource,
  changed: readonly string[] = [],
  now = Date.now(),
): AuditEntry {
  return auditOf(
    { account, caller: commandLine, now, address: '', ray: nextRay() },
    action,
    resource,
    changed,
  )
}

async function chosenAccount(store: Store, wanted: string | undefined): Promise<string | number> {
  const accounts = await store.accounts.list()
  if (accounts.length === 0) return reportEmpty(store)
  const account = wanted ?? (accounts.length === 1 ? accounts[0]!.id : null)
  if (account !== null && accounts.some(({ id }) => id === account)) return account
  tell(`gatehouse: choose an account with --account: ${accounts.map(inWords).join(', ')}`)
  return 2
}

export function reportEmpty({ location }: Store): number {
  tell(
    `gatehouse: the store ${location} is empty; start the gateway once to fill it or, if it had records, ` +
      'restore them or run gatehouse store accept',
  )
  return 1
}

function inWords({ id, name }: Account): string {
  return `${id} (${visible(name)})`
}
