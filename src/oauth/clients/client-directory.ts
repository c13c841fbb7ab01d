// The OAuth clients by id alone, cached until they change.

import { ReadThrough } from '../../store/cache/read-through.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import { everybody } from '../../store/records/people.ts'
import type { Store } from '../../store/contract/store.ts'
import type { DocumentFault } from './document-fault.ts'
import { documentIdOf, isDocumentId, isDocumentUrl } from './document-url.ts'

const size = 10_000
const missLife = 5_000

/** The clients that are known by the URL of a document. */
interface Documents {
  cached(url: string): OAuthClient | null
  current(url: string, sender: string | null): Promise<OAuthClient | DocumentFault>
  keep(client: OAuthClient, user: string): Promise<boolean>
}

export class ClientDirectory {
  readonly #cache: ReadThrough<OAuthClient>
  readonly #documents: Documents | null

  /** Without documents, no client is known by one. */
  constructor(store: Store, documents: Documents | null = null) {
    this.#documents = documents
    this.#cache = new ReadThrough({
      load: async id =>
        isDocumentId(id)
          ? ((await store.oauthClients.get(everybody, id))?.record ?? null)
          : store.oauthClients.find(id),
      changes: store.changes,
      kinds: ['oauth_client'],
      concerns: ({ id }, client) => client.id === id,
      size,
      missLife,
      grace: 0,
    })
  }

  /** Finds a client as it was last known, by its `client_id` or the id under which it is stored. */
  async find(id: string): Promise<OAuthClient | null> {
    if (/^[\da-f]{32}$/.test(id)) return this.#cache.get(id)
    if (this.#documents === null) return null
    if (isDocumentId(id)) return this.#cache.get(id)
    if (!isDocumentUrl(id)) return null
    return this.#documents.cached(id) ?? this.#cache.get(documentIdOf(id))
  }

  /** Finds a client as it is now: its document is fetched if need be, for `sender`, null for this server. */
  async current(id: string, sender: string | null): Promise<OAuthClient | DocumentFault | null> {
    if (this.#documents === null || !isDocumentUrl(id)) return this.find(id)
    return this.#documents.current(id, sender)
  }

  /** Stores a client that is known by its document, as a user allows it something; false for too many. */
  async keep(client: OAuthClient, user: string): Promise<boolean> {
    return client.document === undefined || this.#documents === null || this.#documents.keep(client, user)
  }
}
