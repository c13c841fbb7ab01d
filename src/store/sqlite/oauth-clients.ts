// OAuth clients: records that become due for checks.

import type { Clock } from '../../base/clock.ts'
import { nextTurn } from '../../base/turns/turns.ts'
import { ClientMatches, isFound, type NamedClient } from '../contract/client-search.ts'
import type { ClientSearch, OAuthClient } from '../records/oauth-client.ts'
import type { Listing, OAuthClients, Page, Position, Versioned } from '../contract/store.ts'
import type { Command, Database, Statement } from './database/database.ts'
import { fromRow, OrderedRows, stretchOf } from './database/ordered-rows.ts'
import type { Ledgers } from './companion-writes.ts'
import { SqliteRecords, versionedOf } from './records.ts'

/** Names searched in one step, and records read in one. */
const searchStep = 1_000
const readStep = 100

export class SqliteOAuthClients extends SqliteRecords<OAuthClient> implements OAuthClients {
  readonly #clock: Clock
  readonly #rows: OrderedRows
  readonly #find: Statement
  readonly #matches: Statement
  readonly #counted: Statement
  readonly #one: Statement
  readonly #due: Statement
  readonly #lease: Command
  readonly #renew: Command

  constructor(db: Database, ledgers: Ledgers, clock: Clock) {
    // An unchanged due time keeps the lease.
    const setDue = db.command(
      'UPDATE oauth_clients SET due_at = ?1, ask_at = ?1 WHERE account = ?2 AND id = ?3 AND due_at IS NOT ?1',
    )
    super(db, ledgers, {
      name: 'oauth_client',
      wrote: ({ account, id, verification }) => setDue(verification?.nextCheckAt ?? null, account, id),
    })
    this.#clock = clock
    // By account, since the index of ids starts with it.
    this.#find = db.prepare(
      'SELECT record FROM oauth_clients WHERE account IN (SELECT id FROM accounts) AND id = ?',
    )
    this.#one = db.prepare('SELECT record FROM oauth_clients WHERE account = ? AND id = ?')
    this.#rows = new OrderedRows(db, 'oauth_clients', 'created_at')
    // Names that are not plain ASCII may have letters whose case SQLite cannot fold.
    const clause = `FROM (
        SELECT created_at AS at, id, record ->> 'name' AS name, record ->> 'visibility' AS visibility
        FROM oauth_clients WHERE account = ? AND (created_at, id) > (?, ?)
        ORDER BY created_at, id LIMIT ${searchStep}
      ) WHERE visibility = coalesce(?, visibility)
      AND (octet_length(name) > length(name) OR instr(lower(name), ?))`
    this.#matches = db.prepare(`SELECT at, id, name ${clause}`)
    this.#counted = db.prepare(
      `SELECT count(*) AS count, count(*) FILTER (WHERE octet_length(name) > length(name)) AS unsure ${clause}`,
    )
    this.#due = db.prepare(
      'SELECT key, version, record FROM oauth_clients WHERE ask_at <= ? ORDER BY ask_at LIMIT ?',
    )
    this.#lease = db.command('UPDATE oauth_clients SET ask_at = ? WHERE key = ?')
    this.#renew = db.command(
      'UPDATE oauth_clients SET ask_at = ? WHERE account = ? AND id = ? AND due_at = ?',
    )
  }

  find(id: string): Promise<OAuthClient | null> {
    return this.db.read(() => {
      const row = this.#find.get(id)
      return row ? fromRow<OAuthClient>(row) : null
    })
  }

  async search(account: string, search: ClientSearch, page: Page): Promise<Listing<OAuthClient>> {
    const matches = new ClientMatches(search, page)
    const all = stretchOf(account)
    for (let from: Position | null = all.from; from !== null; ) {
      const place: Position = from
      await this.db.read(() => this.#look(account, place, search, matches))
      from = await this.#rows.skip({ ...all, from: place }, searchStep)
      await nextTurn()
    }
    const records = await this.#readAll(account, matches.ids)
    // Others may have changed or removed some of them in the meantime.
    return { items: records.filter(client => isFound(client, search)), total: matches.total }
  }

  async claimDue(limit: number, lease: number): Promise<readonly Versioned<OAuthClient>[]> {
    // Usually nothing is due, and checking needs no lock.
    const isAny = await this.db.read(() => this.#due.get(this.#clock.now(), limit) !== undefined)
    return isAny ? this.db.write(() => this.#claim(limit, lease)) : []
  }

  renewLeases(clients: readonly OAuthClient[], lease: number): Promise<void> {
    return this.db.write(() => {
      const until = this.#clock.now() + lease
      for (const { account, id, verification } of clients)
        this.#renew(until, account, id, verification?.nextCheckAt ?? null)
    })
  }

  #look(account: string, { at, id }: Position, { visibility }: ClientSearch, matches: ClientMatches): void {
    const values = [account, at, id, visibility, matches.text] as const
    if (matches.isFull) {
      const { count, unsure } = this.#counted.get(...values) as { count: number; unsure: number }
      if (unsure === 0) return matches.count(count)
    }
    matches.add(this.#matches.all(...values) as unknown as NamedClient[])
  }

  async #readAll(account: string, ids: readonly string[]): Promise<readonly OAuthClient[]> {
    const records: OAuthClient[] = []
    for (let from = 0; from < ids.length; from += readStep) {
      if (from > 0) await nextTurn()
      const some = ids.slice(from, from + readStep)
      const rows = await this.db.read(() => some.map(id => this.#one.get(account, id)))
      for (const row of rows) if (row !== undefined) records.push(fromRow(row))
    }
    return records
  }

  #claim(limit: number, lease: number): readonly Versioned<OAuthClient>[] {
    const now = this.#clock.now()
    const rows = this.#due.all(now, limit)
    for (const row of rows) this.#lease(now + lease, row.key!)
    return rows.map(versionedOf<OAuthClient>)
  }
}
