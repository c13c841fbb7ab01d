// Keeps in a store all that an access token is made of, for tests of what such tokens ask for.

import type { Store } from '../../../src/store/contract/store.ts'
import { partsWith } from '../../oauth/grants/parts-with.ts'
import { account } from '../../tokens/token-with.ts'

/** The scopes about the user. */
export const userScopes = ['user.read', 'memberships.write', 'user_access.write'] as const

/** Keeps an access token of a client of the account, or of another, and of a new user who consented for the account; gives its value and parts. */
export async function keepAccess(kept: Store, wish: Parameters<typeof partsWith>[0] = {}) {
  const parts = partsWith({ account, clientAccount: account, scopes: userScopes, ...wish })
  const { credential, grant, client, user, member, insider } = parts
  await kept.users.insert(user)
  await kept.members.insert(member)
  if (insider.account !== member.account) await kept.members.insert(insider)
  await kept.oauthClients.insert(client)
  await kept.oauthGrants.insert(grant)
  await kept.credentials.put(credential)
  return parts
}
