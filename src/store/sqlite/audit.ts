// Audit entries, each as JSON in a row. A book for each account has their number, so that no write has to count them.
import type { AuditEntry } from '../records.ts'
import type { AuditLog, AuditQuery, Listing } from '../store.ts'
import type { Command, Database, Statement } from './database.ts'
import { fromRow } from './records.ts'

export class SqliteAudit implements AuditLog {
  readonly #db: Database
  readonly #most: number
  readonly #oldestFirst: Statement
  readonly #newestFirst: Statement
  readonly #count: Statement
  readonly #insert: Command
  readonly #raise: Statement
  readonly #trim: Command
  readonly #lower: Command

  /** `most` is how many an account may have. */
  constructor(db: Database, most = 100_000) {
    this.#db = db
    this.#most = most
    const within = 'FROM audit_entries WHERE account = ? AND at >= ? AND at < ?'
    this.#oldestFirst = db.prepare(`SELECT record ${within} ORDER BY at, id LIMIT ? OFFSET ?`)
    this.#newestFirst = db.prepare(`SELECT record ${within} ORDER BY at DESC, id DESC LIMIT ? OFFSET ?`)
    this.#count = db.prepare(`SELECT count(*) AS total ${within}`)
    this.#insert = db.command(
      'INSERT INTO audit_entries (account, id, at, record) VALUES (?, ?, ?, ?) ON CONFLICT (account, id) DO NOTHING',
    )
    this.#raise = db.prepare(
      `INSERT INTO audit_books (account, count) VALUES (?, 1)
       ON CONFLICT (account) DO UPDATE SET count = count + 1 RETURNING count`,
    )
    this.#trim = db.command(
      `DELETE FROM audit_entries WHERE key IN
         (SELECT key FROM audit_entries WHERE account = ? ORDER BY at, id LIMIT ?)`,
    )
    this.#lower = db.command('UPDATE audit_books SET count = count - ? WHERE account = ?')
  }

  list(account: string, query: AuditQuery): Promise<Listing<AuditEntry>> {
    const { since, before, descending, offset, limit } = query
    const within = [account, since ?? -Infinity, before ?? Infinity]
    const select = descending ? this.#newestFirst : this.#oldestFirst
    return this.#db.read(() => ({
      items: select.all(...within, limit, offset).map(fromRow<AuditEntry>),
      total: Number(this.#count.get(...within)!.total),
    }))
  }

  append(entry: AuditEntry): Promise<void> {
    return this.#db.write(() => this.appendWithin(entry))
  }

  /** As `append`, inside of a transaction. */
  appendWithin(entry: AuditEntry): void {
    const { account, id, at } = entry
    if (this.#insert(account, id, at, JSON.stringify(entry)) === 0) return
    const excess = Number(this.#raise.get(account)!.count) - this.#most
    if (excess > 0) this.#lower(this.#trim(account, excess), account)
  }
}
