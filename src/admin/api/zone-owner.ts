// The owner of a zone.

import type { ZoneConfig } from '../../config/model/config.ts'
import type { Accounts } from '../../store/contract/store.ts'

/** The oldest account, unless the configuration names another; null if there is none. */
export async function ownerOf(
  { account }: Pick<ZoneConfig, 'account'>,
  accounts: Accounts,
): Promise<string | null> {
  return account ?? (await oldestOf(accounts))
}

/** It owns everything that the configuration assigns to no account; null if there is none. */
export function oldestOf(accounts: Accounts): Promise<string | null> {
  return accounts.oldest()
}

export async function zonesOf(
  account: string,
  zones: readonly ZoneConfig[],
  accounts: Accounts,
): Promise<readonly ZoneConfig[]> {
  const oldest = await oldestOf(accounts)
  return zones.filter(zone => (zone.account ?? oldest) === account)
}
