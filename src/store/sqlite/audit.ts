// Audit entries, one row of JSON each. Their numbers are tracked for each account, and for each actor in it,
// so that the entries need not be counted.

import { nextTurn } from '../../base/turns/turns.ts'
import type { AuditEntry, DroppedEntries } from '../records/records.ts'
import type { AuditLimit, AuditLog, AuditQuery, DropTeller, Listing, Position } from '../contract/store.ts'
import type { Command, Database, Statement } from './database/database.ts'
import { fromRow, OrderedRows, type Stretch } from './database/ordered-rows.ts'

/** Entries that one step removes, and actors that one step reads. */
const trimStep = 200
const actorStep = 200

/** The dropped entries of one actor so far, and the latest entry that reports them. */
interface TrimStep {
  readonly dropped: DroppedEntries | null
  readonly entry: AuditEntry | null
}

export class SqliteAudit implements AuditLog {
  readonly #db: Database
  readonly #rows: OrderedRows
  readonly #book: Statement
  readonly #insert: Command
  readonly #replace: Command
  readonly #raise: Command
  readonly #raiseActor: Command
  readonly #actors: Statement
  readonly #bookOfActor: Statement
  readonly #oldest: Statement
  readonly #remove: Command
  readonly #closeBook: Command

  constructor(db: Database) {
    this.#db = db
    this.#rows = new OrderedRows(db, 'audit_entries', 'at')
    this.#book = db.prepare('SELECT count FROM audit_books WHERE account = ?')
    this.#insert = db.command(
      'INSERT INTO audit_entries (account, id, at, actor, record) VALUES (?, ?, ?, ?, ?) ON CONFLICT (account, id) DO NOTHING',
    )
    this.#replace = db.command('UPDATE audit_entries SET record = ? WHERE account = ? AND id = ?')
    this.#raise = db.command(
      `INSERT INTO audit_books (account, count) VALUES (?1, ?2)
       ON CONFLICT (account) DO UPDATE SET count = count + ?2`,
    )
    this.#raiseActor = db.command(
      `INSERT INTO audit_actors (account, actor, count) VALUES (?1, ?2, ?3)
       ON CONFLICT (account, actor) DO UPDATE SET count = count + ?3`,
    )
    this.#actors = db.prepare(
      `SELECT actor FROM audit_actors WHERE account = ? AND actor > ? ORDER BY actor LIMIT ${actorStep}`,
    )
    this.#bookOfActor = db.prepare('SELECT count FROM audit_actors WHERE account = ? AND actor = ?')
    const ofActor = 'FROM audit_entries WHERE account = ? AND actor = ? ORDER BY at, id LIMIT ?'
    this.#oldest = db.prepare(`SELECT at ${ofActor}`)
    this.#remove = db.command(`DELETE FROM audit_entries WHERE key IN (SELECT key ${ofActor})`)
    this.#closeBook = db.command('DELETE FROM audit_actors WHERE account = ? AND actor = ? AND count <= 0')
  }

  async list(account: string, query: AuditQuery): Promise<Listing<AuditEntry>> {
    const { since, before, descending, offset, limit, after = null } = query
    const [first, last] = [since ?? -Infinity, before ?? Infinity]
    const whole: Stretch = { account, descending: false, from: { at: first, id: '' }, until: last }
    const isAll = since === null && before === null
    const total = isAll ? await this.#countAll(account) : await this.#rows.count(whole)
    const stretch = descending
      ? { account, descending, from: earlier(after, { at: last, id: '' }), until: first }
      : { ...whole, from: later(after, whole.from) }
    const from = await this.#rows.skip(stretch, offset)
    const items: AuditEntry[] = []
    if (from !== null)
      for await (const rows of this.#rows.read({ ...stretch, from }, limit))
        for (const row of rows) items.push(fromRow(row))
    return { items, total }
  }

  append(entry: AuditEntry): Promise<void> {
    return this.#db.write(() => this.appendWithin(entry))
  }

  async trim(account: string, limit: AuditLimit, tell: DropTeller): Promise<readonly AuditEntry[]> {
    const removed: AuditEntry[] = []
    for (let last = ''; ; ) {
      const from = last
      const actors = await this.#db.read(() => this.#actors.all(account, from))
      for (const { actor } of actors) {
        last = String(actor)
        const entry = await this.#trimActor(account, last, limit, tell)
        if (entry) removed.push(entry)
        await nextTurn()
      }
      if (actors.length < actorStep) return removed
    }
  }

  appendWithin(entry: AuditEntry): void {
    const { account, id, at, actor } = entry
    if (this.#insert(account, id, at, actor, JSON.stringify(entry)) === 0) return
    this.#raise(account, 1)
    this.#raiseActor(account, actor, 1)
  }

  #countAll(account: string): Promise<number> {
    return this.#db.read(() => Number(this.#book.get(account)?.count ?? 0))
  }

  /** Removes an actor's entries beyond its maximum, and returns the entry that reports it, if any. */
  async #trimActor(account: string, actor: string, limit: AuditLimit, tell: DropTeller) {
    let dropped: DroppedEntries | null = null
    let removed: AuditEntry | null = null
    // If nothing changes, no lock is needed.
    while ((await this.#db.read(() => this.#surplus(account, actor, limit))).length > 0) {
      const before: DroppedEntries | null = dropped
      const step: TrimStep = await this.#db.write(() => this.#trimStep(account, actor, limit, tell, before))
      dropped = step.dropped
      removed = step.entry ?? removed
      await nextTurn()
    }
    return removed
  }

  /**
   * Removes some of an actor's surplus entries, within a transaction; `before` are those of earlier steps.
   */
  #trimStep(
    account: string,
    actor: string,
    limit: AuditLimit,
    tell: DropTeller,
    before: DroppedEntries | null,
  ): TrimStep {
    const times = this.#surplus(account, actor, limit)
    // Another process has removed it in the meantime.
    if (times.length === 0) return { dropped: before, entry: null }
    const count = (before?.count ?? 0) + times.length
    const dropped = { count, from: before?.from ?? times[0]!, to: times.at(-1)! }
    this.#remove(account, actor, times.length)
    this.#raise(account, -times.length)
    this.#raiseActor(account, actor, -times.length)
    this.#closeBook(account, actor)
    const entry = tell(actor, dropped)
    if (entry && this.#replace(JSON.stringify(entry), account, entry.id) === 0) this.appendWithin(entry)
    return { dropped, entry }
  }

  /** Returns the times of an actor's oldest entries that must be removed, as many as one step removes. */
  #surplus(account: string, actor: string, { before, maxOf }: AuditLimit): readonly number[] {
    const excess = Number(this.#bookOfActor.get(account, actor)?.count ?? 0) - maxOf(actor)
    const times = this.#oldest.all(account, actor, trimStep).map(({ at }) => Number(at))
    return times.filter((at, i) => i < excess || at < before)
  }
}

function later(one: Position | null, other: Position): Position {
  return one === null || one.at < other.at ? other : one
}

function earlier(one: Position | null, other: Position): Position {
  return one === null || one.at >= other.at ? other : one
}
