// Recovery from a lost password or second factor: without mail, the operator hands over a link.

import { type Clock, systemClock } from '../../base/clock.ts'
import type { AuditEntry } from '../../store/records/records.ts'
import type { Member, User } from '../../store/records/people.ts'
import type { Store } from '../../store/contract/store.ts'
import { reissueInvitation } from './invitations.ts'
import type { NewLink } from './links.ts'
import { withoutFactors } from '../second-factor/second-factor.ts'
import { revokeAfterTakeover } from '../sessions/revoke-after-takeover.ts'
import { changeUser } from '../records/users.ts'

/** Ends all access of a member but the provider's, and returns a link to a new password; null if gone. */
export async function recover(
  store: Store,
  member: Member,
  audit: AuditEntry,
  clock: Clock = systemClock,
): Promise<NewLink | null> {
  const now = clock.now()
  const empty = { password: null, passwordChangedAt: now, modifiedAt: now }
  const emptied = (before: User) => ({ ...withoutFactors(before), ...empty })
  const user = await changeUser(store, member.user, emptied, audit)
  if (user === null) return null
  const { actor, address, ray } = audit
  await revokeAfterTakeover(store, user.id, { caller: { id: actor }, now, address, ray })
  return reissueInvitation(store, member, now, true)
}
