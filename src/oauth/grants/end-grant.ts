// Ends what a user allowed an OAuth client to do, whoever asks for it.

import type { AuditEntry } from '../../store/records/records.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import type { Store } from '../../store/contract/store.ts'

/**
 * Removes a grant with its codes and tokens, and keeps the entry with it; false when it had ended already. It is gone with its record, at once and everywhere: what
 * goes after it opens nothing any more, so that a crash between the two leaves nothing open.
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
