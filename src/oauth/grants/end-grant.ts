// The end of what a user has allowed an OAuth client to do.

import type { AuditEntry } from '../../store/records/records.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import type { Store } from '../../store/contract/store.ts'

/**
 * Removes a grant with its codes and tokens, and writes the audit entry; false if it had already ended.
 * Without the record, no code or token of it is valid, so a crash before they are removed leaves nothing
 * usable behind.
 */
export async function removeGrant(
  { account, id }: Pick<OAuthGrant, 'account' | 'id'>,
  audit: AuditEntry,
  { oauthGrants, credentials }: Pick<Store, 'oauthGrants' | 'credentials'>,
): Promise<boolean> {
  const isEnded = await oauthGrants.remove(account, id, { audit })
  await credentials.removeOf({ grant: id })
  return isEnded
}
