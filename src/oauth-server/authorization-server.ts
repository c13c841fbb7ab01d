// The authorization server, as the side port and the edge serve it.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { SecretUses } from '../oauth/clients/secret-uses.ts'
import { systemClock } from '../base/clock.ts'
import { PeopleMetrics } from '../metrics/counters/people-metrics.ts'
import { ClientDocuments } from '../oauth/documents/client-documents.ts'
import { DocumentKeeper } from '../oauth/documents/document-keeper.ts'
import { AuthorizationLog } from '../oauth/grants/authorization-log.ts'
import { StoreUnreachable } from '../store/contract/store.ts'
import { ClientDirectory } from '../oauth/clients/client-directory.ts'
import { ClientSecrets } from './credentials/client-secrets.ts'
import type { EndpointParts, ServerParts } from './endpoints/endpoint.ts'
import type { Sender } from './engine/request.ts'
import { Interactions } from './endpoints/interactions.ts'
import { LibraryEndpoints } from './endpoints/library-endpoints.ts'
import { isOfOAuth } from './http/paths.ts'
import { sendError, sendJson } from './http/responses.ts'
import { routeOf } from './endpoints/routes.ts'
import { SigningKeys } from '../tokens/signing-keys.ts'
import { unavailability, unavailable } from './http/unavailable.ts'

export class AuthorizationServer {
  readonly interactions: Interactions
  readonly #parts: EndpointParts
  readonly #uses: SecretUses
  readonly #documents: ClientDocuments
  readonly #keeper: DocumentKeeper
  readonly #library: LibraryEndpoints

  constructor(parts: ServerParts) {
    const { config, store, secrets, limiter, log, routes, metrics = new PeopleMetrics() } = parts
    const { hosts, maxClients } = config.clientIdMetadataDocuments
    this.#documents = new ClientDocuments({
      options: { ...parts.documents, hosts, maxClients },
      ...{ store, limiter, metrics, log, clock: systemClock },
      scopes: () => routes.scopes,
    })
    const clients = new ClientDirectory(store, hosts.length === 0 ? null : this.#documents)
    // Without hosts, it ends what clients were allowed before.
    this.#keeper = new DocumentKeeper({ store, documents: this.#documents, hosts, log, clock: systemClock })
    this.#keeper.start()
    const events = new AuthorizationLog({ store, log })
    this.#uses = new SecretUses({ store, log })
    this.#parts = {
      ...parts,
      clients,
      clientSecrets: new ClientSecrets(secrets, this.#uses, limiter),
      keys: new SigningKeys({ owner: 'oauth', store, secrets: () => secrets, log }),
      events,
    }
    this.interactions = new Interactions({ ...parts, clients, note: event => events.note(event) })
    this.#library = new LibraryEndpoints(this.#parts, this.interactions)
  }

  takes(path: string): boolean {
    return isOfOAuth(path)
  }

  async serve(request: IncomingMessage, response: ServerResponse, sender: Sender): Promise<void> {
    const [path, query] = split(request.url!)
    const { methods, serve } = routeOf(path)
    const method = request.method === 'HEAD' ? 'GET' : request.method!
    if (!methods.includes(method)) return refuseMethod(response, methods)
    try {
      await serve({ request, response, sender, path, query }, this.#parts, this.#library)
    } catch (error) {
      if (!(error instanceof StoreUnreachable) || response.headersSent) throw error
      response.setHeader('retry-after', unavailable.retryAfter)
      sendError(response, this.#parts.issuer(), { ...unavailable, description: unavailability(error) })
    }
  }

  async close(): Promise<void> {
    await this.#keeper.close()
    await this.#documents.close()
    await this.#uses.close()
    await this.#parts.events.close()
  }
}

function split(target: string): [path: string, query: string] {
  const end = target.indexOf('?')
  return end < 0 ? [target, ''] : [target.slice(0, end), target.slice(end + 1)]
}

function refuseMethod(response: ServerResponse, methods: readonly string[]): void {
  const allow = methods.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
  response.setHeader('allow', allow)
  sendJson(response, 405, { error: 'invalid_request', error_description: `the method must be ${allow}` })
}
