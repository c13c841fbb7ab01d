// Ends the session of a browser, at the request of its owner.

import type { Clock } from '../../base/clock.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Sessions } from './sessions.ts'
import { auditSignIn } from '../records/self-audit.ts'
import type { ClientInfo } from '../records/client-info.ts'

interface SignOutParts {
  readonly store: Store
  readonly sessions: Sessions
  readonly clock: Clock
}

/** Ends the session of a value and records it for the accounts of its user; false if it had ended already. */
export async function signOut(
  value: string,
  client: Pick<ClientInfo, 'address' | 'ray'>,
  { store, sessions, clock }: SignOutParts,
): Promise<boolean> {
  const session = await sessions.find(value)
  if (!(await sessions.end(value)) || session === null) return false
  const resource = { resourceKind: 'session', resource: session.session.id } as const
  await auditSignIn(store, session.user, client, clock.now(), { action: 'sign_out', resource })
  return true
}
