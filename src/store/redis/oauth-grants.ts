// OAuth grants in Redis: records that are also found and listed by user and by client.

import { hash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { OAuthGrant } from '../records/oauth-grant.ts'
import type { GrantParty, Listing, OAuthGrants, Page, Versioned } from '../contract/store.ts'
import { keys } from './server/keys.ts'
import { placeIn, RedisRecords, type Traits } from './records.ts'
import type { Reader } from './server/connection.ts'
import type { DurableWrites } from './server/durability.ts'

const traits: Traits<OAuthGrant> = {
  kind: 'oauth_grant',
  marks: grant => {
    const { user, client, createdAt } = grant
    const places = [`user/${user}`, `client/${client}`].map(group => `~${placeIn(group, createdAt, grant)}`)
    return [nameOf(grant), ...places].join(',')
  },
  isMarked: true,
}

export class RedisOAuthGrants extends RedisRecords<OAuthGrant> implements OAuthGrants {
  constructor(connection: Reader, writes: DurableWrites, clock: Clock) {
    super(traits, connection, writes, clock)
  }

  find(party: GrantParty): Promise<Versioned<OAuthGrant> | null> {
    return this.findByName(nameOf({ ...party, redirectHosts: [] }))
  }

  ofUser(user: string, page: Page): Promise<Listing<OAuthGrant>> {
    return this.listGroup(`user/${user}`, page)
  }

  ofClient(client: string, page: Page): Promise<Listing<OAuthGrant>> {
    return this.listGroup(`client/${client}`, page)
  }

  count(): Promise<number> {
    return this.connection.run(['HLEN', keys.records('oauth_grant')]) as Promise<number>
  }
}

/** A grant from before redirect hosts were stored keeps its old name, so the new one misses it. */
function nameOf({
  user,
  client,
  account,
  resource,
  redirectHosts,
}: GrantParty & Pick<OAuthGrant, 'redirectHosts'>) {
  const parties = `${user}/${client}/${account}`
  return redirectHosts === undefined ? parties : `${parties}/${hash('sha256', JSON.stringify(resource))}`
}
