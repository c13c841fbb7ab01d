// The account for a command on the store: the named one, or the only one there is.

import { visible } from '../../../base/text/visible.ts'
import type { Account } from '../../../store/records/records.ts'
import type { Store } from '../../../store/contract/store.ts'
import { tell } from '../../terminal/output.ts'

/** Returns the id of the account, or the exit code after printing the problem. */
export async function chosenAccount(store: Store, wanted: string | undefined): Promise<string | number> {
  const accounts = await store.accounts.list()
  if (accounts.length === 0) return reportEmpty(store)
  const account = wanted ?? (accounts.length === 1 ? accounts[0]!.id : null)
  if (account !== null && accounts.some(({ id }) => id === account)) return account
  tell(`gatehouse: choose an account with --account: ${accounts.map(inWords).join(', ')}`)
  return 2
}

/** Reports that there is nothing yet that a command could work on; returns the exit code. */
export function reportEmpty({ location }: Store): number {
  tell(`gatehouse: the store ${location} is empty; start the gateway once to fill it`)
  return 1
}

function inWords({ id, name }: Account): string {
  return `${id} (${visible(name)})`
}
