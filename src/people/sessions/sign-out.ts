// Ends the session of a browser, at the request of its owner.

import type { Clock } from '../../base/clock.ts'
import type { Store } from '../../store/contract/store.ts'
import type { User } from '../../store/records/people.ts'
import type { Session, Sessions } from './sessions.ts'
import { auditSignIn } from '../records/self-audit.ts'
import type { ClientInfo } from '../records/client-info.ts'

interface SignOutParts {
  readonly store: Store
  readonly sessions: Sessions
  readonly clock: Clock
}

interface Owned {
  readonly session: Session
  readonly user: User
}

/** Ends a session and records it for the accounts of its user; false if it had ended already. */
export async function signOutById(
  { session: { id }, user }: Owned,
  client: Pick<ClientInfo, 'address' | 'ray'>,
  { store, sessions, clock }: SignOutParts,
): Promise<boolean> {
  if (!(await sessions.endOne(user.id, id))) return false
  const resource = { resourceKind: 'session', resource: id } as const
  await auditSignIn(store, user, client, clock.now(), { action: 'sign_out', resource })
  return true
}

/** Ends the session of a value and records it for the accounts of its user; false if it had ended already. */
export async function signOut(
  value: string,
  client: Pick<ClientInfo, 'address' | 'ray'>,
  { store, sessions, clock }: SignOutParts,
): Promise<boolean> {
  const owned = await sessions.find(value)
  if (owned !== null) return signOutById(owned, client, { store, sessions, clock })
  // An outdated one is no longer found.
  await sessions.end(value)
  return false
}
