// The OAuth clients that are known by the URL of a document. Those that nobody has allowed anything are
// cached by this process alone: what strangers send is not stored.

import type { Clock } from '../../base/clock.ts'
import { nextRay } from '../../base/ids/ray.ts'
import { day, minute } from '../../base/units.ts'
import { type Limit, limitOf } from '../../limits/limit.ts'
import type { Limiter } from '../../limits/limiter.ts'
import type { Logger } from '../../log/log.ts'
import type { PeopleMetrics } from '../../metrics/counters/people-metrics.ts'
import { GuardedClient, type GuardedClientOptions } from '../../net/http/guarded-client.ts'
import { scopesOfClient } from './document-scopes.ts'
import type { DocumentFault } from '../clients/document-fault.ts'
import { documentIdOf } from '../clients/document-url.ts'
import { removeGrant } from '../grants/end-grant.ts'
import { grantsOfClient } from '../grants/iterate-grants.ts'
import type { OAuthScope } from '../../permissions/scopes.ts'
import { auditOf, keeper, type Resource } from '../../store/records/audit-entry.ts'
import type { AuditAction } from '../../store/records/records.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import { everybody } from '../../store/records/people.ts'
import type { Store, Versioned } from '../../store/contract/store.ts'
import { faultOfUrl, type FetchedDocument, fetchDocument, maxDocument } from './fetch-document.ts'

/** Documents of strangers in memory. */
const maxCached = 500
/** Fetches at once, and of those from one host. */
const most = { all: 16, host: 4 }

/**
 * Documents that are not stored yet, by who has them fetched and by the host; and each that is stored, so
 * that strangers cannot keep it from being fetched by naming others.
 */
const ofSender = limitOf('client documents', 30, { kind: 'sliding', period: 10 * minute })
const ofHost = limitOf('client documents of a host', 120, { kind: 'sliding', period: 10 * minute })
const ofClient = limitOf('client documents of a client', 20, { kind: 'sliding', period: 10 * minute })
/** Clients that are stored since one user has allowed them something. */
const ofUser = limitOf('client documents stored for a user', 50, { kind: 'sliding', period: day })

interface DocumentOptions extends Pick<GuardedClientOptions, 'isAllowed' | 'ca'> {
  /** Empty: no client is known by a document. */
  readonly hosts: readonly string[]
  readonly maxClients: number
}

interface DocumentsParts {
  readonly options: DocumentOptions
  readonly store: Store
  readonly limiter: Pick<Limiter, 'spend'>
  readonly scopes: () => readonly OAuthScope[]
  readonly metrics: Pick<PeopleMetrics, 'clientDocument'>
  readonly log: Logger
  readonly clock: Clock
}

interface Fetch {
  readonly sender: string | null
  readonly client: Promise<OAuthClient | DocumentFault>
}

export class ClientDocuments {
  readonly #parts: DocumentsParts
  readonly #client: GuardedClient
  readonly #cached = new Map<string, OAuthClient>()
  readonly #pending = new Map<string, Fetch>()
  readonly #fetching = new Map<string, number>()

  constructor(parts: DocumentsParts) {
    this.#parts = parts
    const { isAllowed, ca } = parts.options
    this.#client = new GuardedClient({
      ...(isAllowed && { isAllowed }),
      ...(ca !== undefined && { ca }),
      ...{ timeout: 5_000, connections: most.host, maxResponse: maxDocument },
    })
  }

  /** Returns a client that this process has fetched and nobody has allowed anything; null for none. */
  cached(url: string): OAuthClient | null {
    return this.#cached.get(url) ?? null
  }

  /**
   * Returns a client as its document is now, or was within its time in caches. `sender` is who has it
   * fetched; null for this server itself. Rejects with `StoreUnreachable`.
   */
  async current(url: string, sender: string | null): Promise<OAuthClient | DocumentFault> {
    const fault = faultOfUrl(url, 'client_id', this.#parts.options.hosts)
    if (fault !== null) return this.#count(fault)
    const client = this.#cached.get(url)
    if (client !== undefined && this.#isFresh(client)) return client
    const stored = await this.#stored(url)
    if (stored !== null && this.#isFresh(stored.record)) return stored.record
    return this.#fetchOnce(url, stored, sender)
  }

  /** Fetches the document of a stored client, and ends the client if there is none; null if it has ended. */
  async renew({ document }: OAuthClient): Promise<OAuthClient | DocumentFault | null> {
    const { url } = document!
    const stored = await this.#stored(url)
    return stored && this.#fetchOnce(url, stored, null)
  }

  /** Stores a client, as a user allows it something; false if there are too many, of all or of the user. */
  async keep(client: OAuthClient, user: string): Promise<boolean> {
    const { store, options, limiter } = this.#parts
    const { url } = client.document!
    if ((await this.#stored(url)) !== null) return true
    const { total } = await store.oauthClients.list(everybody, { offset: 0, limit: 1 })
    if (total >= options.maxClients || !(await limiter.spend(ofUser, user)).isAllowed) return false
    await store.oauthClients.insert(client, { audit: this.#audit('create', resourceOf(client)) })
    this.#cached.delete(url)
    return true
  }

  /** Removes a client first: all that it was good for needs it. */
  async end(client: OAuthClient, reason: string): Promise<void> {
    const { store, log } = this.#parts
    const { id, name, document } = client
    const audit = this.#audit('delete', resourceOf(client))
    if (await store.oauthClients.remove(everybody, id, { audit }))
      log.info({ url: document!.url, name, reason }, 'client that is known by its document ended')
    await store.credentials.removeOf({ client: id })
    for await (const grants of grantsOfClient(id, store))
      for (const grant of grants) {
        const resource = { resourceKind: 'oauth_grant', resource: grant.id } as const
        await removeGrant(grant, this.#audit('revoke', resource, grant.account), store)
      }
  }

  async close(): Promise<void> {
    await this.#client.close()
  }

  #stored(url: string): Promise<Versioned<OAuthClient> | null> {
    return this.#parts.store.oauthClients.get(everybody, documentIdOf(url))
  }

  #isFresh({ document, scopes }: OAuthClient): boolean {
    const { expiresAt, scope } = document!
    if (expiresAt <= this.#parts.clock.now()) return false
    // The operator may have added scopes.
    return scope !== null || this.#parts.scopes().every(({ id }) => id === offline || scopes.includes(id))
  }

  async #fetchOnce(url: string, stored: Versioned<OAuthClient> | null, sender: string | null) {
    for (let underWay = this.#pending.get(url); underWay; underWay = this.#pending.get(url)) {
      const client = await underWay.client
      // Another sender may have used up its share.
      if (underWay.sender === sender || !('fault' in client) || client.fault !== 'busy') return client
    }
    const client = this.#fetch(url, stored, sender).finally(() => this.#pending.delete(url))
    this.#pending.set(url, { sender, client })
    return client
  }

  async #fetch(url: string, stored: Versioned<OAuthClient> | null, sender: string | null) {
    const { host } = new URL(url)
    const busy = await this.#excess(stored === null ? null : documentIdOf(url), host, sender)
    if (busy !== null) return this.#count(busy)
    const underWay = this.#fetching.get(host) ?? 0
    if (this.#pending.size > most.all || underWay >= most.host)
      return this.#count({ fault: 'busy', reason: 'too many documents are being fetched' })
    this.#fetching.set(host, underWay + 1)
    const { options, clock } = this.#parts
    const fetched = await fetchDocument(url, { client: this.#client, hosts: options.hosts }, clock.now())
    const left = this.#fetching.get(host)! - 1
    if (left === 0) this.#fetching.delete(host)
    else this.#fetching.set(host, left)
    return this.#settle(url, stored, fetched)
  }

  async #excess(stored: string | null, host: string, sender: string | null): Promise<DocumentFault | null> {
    const spent: readonly (readonly [Limit, string])[] =
      stored === null
        ? [...(sender === null ? [] : [[ofSender, sender] as const]), [ofHost, host]]
        : [[ofClient, stored]]
    // Who is refused takes nothing from the host, so that others can have its documents fetched.
    for (const [limit, key] of spent) {
      const { isAllowed, wait } = await this.#parts.limiter.spend(limit, key)
      if (isAllowed) continue
      const seconds = Math.ceil(wait / 1000)
      const reason = `too many documents were fetched for you, or from ${host}; try again in ${seconds} s`
      return { fault: 'busy', reason }
    }
    return null
  }

  async #settle(
    url: string,
    stored: Versioned<OAuthClient> | null,
    fetched: FetchedDocument | DocumentFault,
  ): Promise<OAuthClient | DocumentFault> {
    this.#cached.delete(url)
    if ('fault' in fetched) {
      if (stored !== null && fetched.fault === 'gone') await this.end(stored.record, fetched.reason)
      return this.#count(fetched)
    }
    const client = this.#clientOf(url, fetched, stored?.record ?? null)
    this.#parts.metrics.clientDocument('fetched')
    if (stored === null) {
      this.#cache(url, client)
      return client
    }
    if (stored.record.tokenEndpointAuthMethod !== client.tokenEndpointAuthMethod) {
      await this.end(stored.record, 'token_endpoint_auth_method of the document has changed')
      this.#cache(url, client)
      return client
    }
    // Whoever else has fetched it meanwhile has stored the same.
    await this.#parts.store.oauthClients.replace(client, stored.version)
    return client
  }

  #clientOf(
    url: string,
    { settings, scopes, keys, expiresAt }: FetchedDocument,
    before: OAuthClient | null,
  ): OAuthClient {
    const now = this.#parts.clock.now()
    return {
      ...settings,
      account: everybody,
      id: documentIdOf(url),
      scopes: scopesOfClient(scopes, settings, this.#parts.scopes()),
      visibility: 'public',
      secrets: [],
      verification: null,
      revision: (before?.revision ?? 0) + 1,
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
      promotedAt: null,
      document: { url, scope: scopes, keys, fetchedAt: now, expiresAt },
    }
  }

  #cache(url: string, client: OAuthClient): void {
    const [oldest] = this.#cached.keys()
    if (oldest !== undefined && this.#cached.size >= maxCached) this.#cached.delete(oldest)
    this.#cached.set(url, client)
  }

  #count(fault: DocumentFault): DocumentFault {
    this.#parts.metrics.clientDocument(fault.fault)
    return fault
  }

  #audit(action: AuditAction, resource: Resource, account: string = everybody) {
    const now = this.#parts.clock.now()
    return auditOf({ account, caller: keeper, now, address: '', ray: nextRay() }, action, resource)
  }
}

const offline = 'offline_access'

function resourceOf({ id, document }: OAuthClient): Resource {
  return { resourceKind: 'oauth_client', resource: id, resourceName: document!.url }
}
