// Revokes everything that others may have obtained through a user.

import { auditOf } from '../../store/records/audit-entry.ts'
import type { Store } from '../../store/contract/store.ts'
import { Sessions } from './sessions.ts'

type Asker = Omit<Parameters<typeof auditOf>[0], 'account'>

const atOnce = 50

/** Ends all sessions, and all access of apps, which then need a new consent; audited per account. */
export async function revokeAfterTakeover(store: Store, user: string, asker: Asker): Promise<void> {
  await new Sessions(store).endEverything(user)
  for (;;) {
    const { items } = await store.oauthGrants.ofUser(user, { offset: 0, limit: atOnce })
    for (const { account, id } of items) {
      const audit = auditOf({ account, ...asker }, 'revoke', { resourceKind: 'oauth_grant', resource: id })
      await store.oauthGrants.remove(account, id, { audit })
    }
    if (items.length < atOnce) return
  }
}
