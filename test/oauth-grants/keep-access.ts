// Keeps in a store what an access token is made of, as the authorization server and the API do.

import type { Store } from '../../src/store/store.ts'
import { partsWith } from './parts-with.ts'

/** Keeps all of it, and returns the value and the parts. */
export async function keepAccess(store: Store, wish: Parameters<typeof partsWith>[0] = {}) {
  const { value, ...parts } = partsWith(wish)
  const { credential, grant, client, user, member, insider } = parts
  await store.users.insert(user)
  await store.members.insert(member)
  if (insider.account !== member.account) await store.members.insert(insider)
  await store.oauthClients.insert(client)
  await store.oauthGrants.insert(grant)
  await store.credentials.put(credential)
  return { value, ...parts }
}
