// Fetches the documents of stored clients again, since those that nobody uses may be gone as well.

import { minute } from '../../base/units.ts'
import type { Clock } from '../../base/clock.ts'
import { isOnHosts } from '../clients/document-url.ts'
import type { Logger } from '../../log/log.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import { everybody } from '../../store/records/people.ts'
import { type Store, StoreUnreachable } from '../../store/contract/store.ts'
import { nextTurn } from '../../base/turns/turns.ts'
import type { ClientDocuments } from './client-documents.ts'
import { longest } from './freshness.ts'

/** Ms between two rounds. */
const period = 5 * minute
/** Ms for which a document may be broken or unreachable before it counts as removed. */
const patience = 24 * 60 * minute

interface KeeperParts {
  readonly store: Store
  readonly documents: Pick<ClientDocuments, 'renew' | 'end'>
  readonly hosts: readonly string[]
  readonly log: Logger
  readonly clock: Clock
}

export class DocumentKeeper {
  readonly #parts: KeeperParts
  readonly #failingSince = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(parts: KeeperParts) {
    this.#parts = parts
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#work = this.#round().then(() => {
        if (!this.#isClosed) this.start()
      })
    }, period).unref()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#work
  }

  /** Fetches all documents that were fetched an hour ago or longer, one after the other. */
  async sweep(): Promise<void> {
    for await (const clients of this.#parts.store.oauthClients.walk(everybody))
      for (const client of clients) {
        await nextTurn()
        if (this.#isClosed) return
        await this.#check(client)
      }
  }

  async #check(client: OAuthClient): Promise<void> {
    const { store, documents, hosts, clock } = this.#parts
    const { url, fetchedAt } = client.document!
    if (!isOnHosts(url, hosts)) return documents.end(client, 'its host is no longer allowed')
    if (clock.now() - fetchedAt < longest) return
    const { total } = await store.oauthGrants.ofClient(client.id, { offset: 0, limit: 1 })
    if (total === 0) return documents.end(client, 'nobody allows it anything')
    const renewed = await documents.renew(client)
    if (renewed === null || !('fault' in renewed)) return void this.#failingSince.delete(client.id)
    const since = this.#failingSince.get(client.id) ?? clock.now()
    if (renewed.fault === 'gone' || clock.now() - since >= patience) {
      this.#failingSince.delete(client.id)
      await documents.end(client, renewed.reason)
    } else this.#failingSince.set(client.id, since)
  }

  async #round(): Promise<void> {
    try {
      await this.sweep()
    } catch (err) {
      if (!(err instanceof StoreUnreachable))
        this.#parts.log.error({ err }, 'renewing client documents failed')
    }
  }
}
