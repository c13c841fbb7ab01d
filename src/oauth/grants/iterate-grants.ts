// All grants of a client or a user, in pages that stay correct while grants are removed.

import { isId } from '../../base/ids/id.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import type { Position, Store } from '../../store/contract/store.ts'

const pageSize = 50

type GrantPages = AsyncIterable<readonly OAuthGrant[]>

export function grantsOfClient(client: string, { oauthGrants }: Store): GrantPages {
  return pagesOf(after => oauthGrants.ofClient(client, { offset: 0, limit: pageSize, after }))
}

export function grantsOfUser(user: string, { oauthGrants }: Store): GrantPages {
  return pagesOf(after => oauthGrants.ofUser(user, { offset: 0, limit: pageSize, after }))
}

async function* pagesOf(
  load: (after: Position | null) => Promise<{ readonly items: readonly OAuthGrant[] }>,
): GrantPages {
  for (let after: Position | null = null; ; ) {
    const { items } = await load(after)
    yield items
    if (items.length < pageSize) return
    after = placeOf(items.at(-1)!)
  }
}

export async function findGrantOfUser(user: string, id: string, store: Store): Promise<OAuthGrant | null> {
  return findIn(grantsOfUser(user, store), id)
}

export async function findGrantOfClient(
  client: string,
  id: string,
  store: Store,
): Promise<OAuthGrant | null> {
  return findIn(grantsOfClient(client, store), id)
}

async function findIn(pages: GrantPages, id: string): Promise<OAuthGrant | null> {
  if (!isId(id)) return null
  for await (const grants of pages) {
    const match = grants.find(grant => grant.id === id)
    if (match) return match
  }
  return null
}

export function placeOf({ createdAt: at, id }: OAuthGrant): Position {
  return { at, id }
}
