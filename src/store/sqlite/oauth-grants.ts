// OAuth grants: records that are also found and listed by user and by client.

import type { OAuthGrant } from '../records/oauth-grant.ts'
import type { GrantParty, Listing, OAuthGrants, Page, Versioned } from '../contract/store.ts'
import type { Database, Statement } from './database/database.ts'
import { OrderedRows } from './database/ordered-rows.ts'
import type { Ledgers } from './companion-writes.ts'
import { findRecord, pageOf, SqliteRecords } from './records.ts'

const table = 'oauth_grants'

export class SqliteOAuthGrants extends SqliteRecords<OAuthGrant> implements OAuthGrants {
  readonly #find: Statement
  readonly #count: Statement
  readonly #countOfClient: Statement
  readonly #ofUser: OrderedRows
  readonly #ofClient: OrderedRows

  constructor(db: Database, ledgers: Ledgers) {
    super(db, ledgers, { name: 'oauth_grant' })
    this.#find = db.prepare(
      `SELECT version, record FROM ${table} WHERE record ->> 'user' = ? AND record ->> 'client' = ? AND account = ?
       AND record ->> 'resource' = ? AND record ->> 'redirectHosts' IS NOT NULL`,
    )
    this.#count = db.prepare('SELECT coalesce(sum(count), 0) AS count FROM oauth_grant_counts')
    this.#countOfClient = db.prepare('SELECT count FROM oauth_grant_counts WHERE client = ?')
    this.#ofUser = new OrderedRows(db, table, 'created_at', `record ->> 'user'`)
    this.#ofClient = new OrderedRows(db, table, 'created_at', `record ->> 'client'`)
  }

  find({ user, client, account, resource }: GrantParty): Promise<Versioned<OAuthGrant> | null> {
    return this.db.read(() =>
      findRecord<OAuthGrant>(this.#find, user, client, account, JSON.stringify(resource)),
    )
  }

  ofUser(user: string, page: Page): Promise<Listing<OAuthGrant>> {
    return pageOf(this.#ofUser, user, page)
  }

  ofClient(client: string, page: Page): Promise<Listing<OAuthGrant>> {
    return pageOf(this.#ofClient, client, page, () =>
      this.db.read(() => Number(this.#countOfClient.get(client)?.count ?? 0)),
    )
  }

  count(): Promise<number> {
    return this.db.read(() => Number(this.#count.get()!.count))
  }
}
