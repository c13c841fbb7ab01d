// Whose a zone is.

import type { ZoneConfig } from '../../config/model/config.ts'
import type { Accounts } from '../../store/contract/store.ts'

/** Returns the account whose tokens may see and change a zone: the oldest, unless the configuration says another; null where there is none. */
export async function ownerOf(
  { account }: Pick<ZoneConfig, 'account'>,
  accounts: Accounts,
): Promise<string | null> {
  return account ?? (await oldestOf(accounts))
}

/** Returns the oldest account, to which all belongs that the configuration gives to nobody; null where there is none. */
export function oldestOf(accounts: Accounts): Promise<string | null> {
  return accounts.oldest()
}

/** Returns the zones that belong to an account. */
export async function zonesOf(
  account: string,
  zones: readonly ZoneConfig[],
  accounts: Accounts,
): Promise<readonly ZoneConfig[]> {
  const oldest = await oldestOf(accounts)
  return zones.filter(zone => (zone.account ?? oldest) === account)
}
