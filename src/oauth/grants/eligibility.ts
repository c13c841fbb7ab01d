// Whether a person may still be represented in an account by an app.

import type { OAuthClient } from '../../store/records/oauth-client.ts'
import { everybody } from '../../store/records/people.ts'
import type { Store } from '../../store/contract/store.ts'

interface Represented {
  readonly client: OAuthClient
  /** The id of the user. */
  readonly user: string
  /** The account of the consent; `everybody` where it reaches none. */
  readonly account: string
}

/**
 * Returns why it may not, as a clause; null where it may. Rejects with `StoreUnreachable`. `findUser` may
 * remember what it found.
 */
export async function faultOfStanding(
  store: Store,
  { client, user, account }: Represented,
  findUser: (id: string) => Promise<unknown> = id => store.users.get(everybody, id),
): Promise<string | null> {
  const owner = client.visibility === 'private' ? client.account : everybody
  const [kept, isIn, isOfOwner] = await Promise.all([
    findUser(user),
    isMember(store, account, user),
    owner === account || isMember(store, owner, user),
  ])
  if (kept === null) return 'the user no longer exists'
  if (!isIn) return 'the user is no member of the account'
  return isOfOwner ? null : 'the client is private, and the user is no member of its account'
}

/** Whether a user is in an account; in that of everybody, each is. */
export async function isMember(store: Store, account: string, user: string): Promise<boolean> {
  if (account === everybody) return true
  const member = await store.members.find(account, user)
  return member?.record.status === 'accepted'
}
