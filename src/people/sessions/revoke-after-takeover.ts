// What ends where it turns out that others may have used a user: whatever was let in with them.

import { auditOf } from '../../store/records/audit-entry.ts'
import type { Store } from '../../store/contract/store.ts'
import { Sessions } from './sessions.ts'

/** Who asks, when and from where. */
type Asker = Omit<Parameters<typeof auditOf>[0], 'account'>

/** Grants that are read at once. */
const atOnce = 50

/** Ends all sessions of a user, and all that they let apps do, so that these need a new consent. Each account that was consented to is told. */
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
