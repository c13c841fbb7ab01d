// Whether an app may still act for a user in an account.

import type { OAuthClient } from '../../store/records/oauth-client.ts'
import { everybody } from '../../store/records/people.ts'
import type { Account } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'

interface Representation {
  readonly client: OAuthClient
  readonly user: string
  /** The account of the consent; `everybody` if it has none. */
  readonly account: string
}

/**
 * Returns why it may not, as a clause; null if it may. Rejects with `StoreUnreachable`. `findUser` can spare
 * a lookup of the user.
 */
export async function ineligibilityOf(
  store: Store,
  { client, user, account }: Representation,
  findUser: (id: string) => Promise<unknown> = id => store.users.get(everybody, id),
): Promise<string | null> {
  const owner = client.visibility === 'private' ? client.account : everybody
  const isOfAccount = client.document !== undefined && account !== everybody
  const [record, isIn, isOfOwner, place] = await Promise.all([
    findUser(user),
    isMember(store, account, user),
    owner === account || isMember(store, owner, user),
    isOfAccount ? store.accounts.get(account) : null,
  ])
  if (record === null) return 'the user no longer exists'
  if (!isIn) return 'the user is no member of the account'
  if (place !== null && !admits(place, client)) return 'the account allows only apps that are registered'
  return isOfOwner ? null : 'the client is private, and the user is no member of its account'
}

/** Whether members of an account may let a client act for them there. */
export function admits(account: Account, { document }: Pick<OAuthClient, 'document'>): boolean {
  return document === undefined || account.allowsDocumentClients === true
}

/** Whether a user is a member of an account; of `everybody`, all users are. */
export async function isMember(store: Store, account: string, user: string): Promise<boolean> {
  if (account === everybody) return true
  const member = await store.members.find(account, user)
  return member?.record.status === 'accepted'
}
