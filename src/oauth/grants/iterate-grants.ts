// All grants of a client or a user, a few at a time, whatever is removed meanwhile.

import { isId } from '../../base/ids/id.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import type { Position, Store } from '../../store/contract/store.ts'

const atOnce = 50

/** Hands on the grants of a client, so many at a time. */
export async function* grantsOfClient(
  client: string,
  { oauthGrants }: Store,
): AsyncGenerator<readonly OAuthGrant[]> {
  for (let after: Position | null = null; ; ) {
    const { items } = await oauthGrants.ofClient(client, { offset: 0, limit: atOnce, after })
    yield items
    if (items.length < atOnce) return
    after = placeOf(items.at(-1)!)
  }
}

/** Hands on the grants of a user, so many at a time. */
export async function* grantsOfUser(
  user: string,
  { oauthGrants }: Store,
): AsyncGenerator<readonly OAuthGrant[]> {
  for (let after: Position | null = null; ; ) {
    const { items } = await oauthGrants.ofUser(user, { offset: 0, limit: atOnce, after })
    yield items
    if (items.length < atOnce) return
    after = placeOf(items.at(-1)!)
  }
}

/** Finds a grant of a user by its id, which tells nothing of its account. */
export async function findGrantOfUser(user: string, id: string, store: Store): Promise<OAuthGrant | null> {
  return findIn(grantsOfUser(user, store), id)
}

/** Finds a grant of a client by its id. */
export async function findGrantOfClient(
  client: string,
  id: string,
  store: Store,
): Promise<OAuthGrant | null> {
  return findIn(grantsOfClient(client, store), id)
}

async function findIn(walk: AsyncIterable<readonly OAuthGrant[]>, id: string): Promise<OAuthGrant | null> {
  if (!isId(id)) return null
  for await (const grants of walk) {
    const found = grants.find(grant => grant.id === id)
    if (found) return found
  }
  return null
}

/** Returns the place of a grant in lists. */
export function placeOf({ createdAt: at, id }: OAuthGrant): Position {
  return { at, id }
}
