// The OAuth clients by id alone, cached until they change.

import { ReadThrough } from '../../store/cache/read-through.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { Store } from '../../store/contract/store.ts'

const size = 10_000
const missLife = 5_000

export class ClientDirectory {
  readonly #cache: ReadThrough<OAuthClient>

  constructor(store: Store) {
    this.#cache = new ReadThrough({
      load: id => store.oauthClients.find(id),
      changes: store.changes,
      kinds: ['oauth_client'],
      concerns: ({ id }, client) => client.id === id,
      size,
      missLife,
      grace: 0,
    })
  }

  async find(id: string): Promise<OAuthClient | null> {
    return /^[\da-f]{32}$/.test(id) ? this.#cache.get(id) : null
  }
}
