// Ends the session of a browser, which its owner asked for.

import type { Clock } from '../../base/clock.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Sessions } from './sessions.ts'
import { tellSignIn } from '../records/self-audit.ts'
import type { Visit } from '../records/client-info.ts'

interface SignOutParts {
  readonly store: Store
  readonly sessions: Sessions
  readonly clock: Clock
}

/** Ends the session of a value and tells the accounts of its user; false where it had ended already. */
export async function signOut(
  value: string,
  visit: Pick<Visit, 'address' | 'ray'>,
  { store, sessions, clock }: SignOutParts,
): Promise<boolean> {
  const found = await sessions.find(value)
  if (!(await sessions.end(value)) || found === null) return false
  const resource = { resourceKind: 'session', resource: found.session.id } as const
  await tellSignIn(store, found.user, visit, clock.now(), { action: 'sign_out', resource })
  return true
}
