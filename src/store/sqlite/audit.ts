// Audit entries, each as JSON in a row. Books have their numbers, of each account and of each actor in it, so that nothing has to count them all.
import { nextTurn } from '../../base/turns.ts'
import type { AuditEntry, DroppedEntries } from '../records.ts'
import type { AuditLimit, AuditLog, AuditQuery, DropTeller, Listing, Position } from '../store.ts'
import type { Command, Database, Row, Statement } from './database.ts'
import { fromRow } from './records.ts'

/** Rows that are counted in one turn of the event loop, that are read, and that are removed. */
const countStep = 5_000
const readStep = 200
const trimStep = 200

/** Entries of an account in one direction, from behind a position on and up to a time. */
interface Walk {
  readonly account: string
  readonly way: Way
  readonly from: Position
  readonly until: number
}

/** The statements of a direction; each takes the account, the position, the time, and a number. */
interface Way {
  readonly read: Statement
  readonly skip: Statement
  readonly count: Statement
}

/** What one actor has lost so far, and the entry that was written of it last. */
interface TrimStep {
  readonly dropped: DroppedEntries | null
  readonly entry: AuditEntry | null
}

export class SqliteAudit implements AuditLog {
  readonly #db: Database
  readonly #up: Way
  readonly #down: Way
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
    this.#up = wayOf(db, '(at, id) > (?, ?) AND at < ?', 'at, id')
    this.#down = wayOf(db, '(at, id) < (?, ?) AND at >= ?', 'at DESC, id DESC')
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
      `SELECT actor FROM audit_actors WHERE account = ? AND actor > ? ORDER BY actor LIMIT ${readStep}`,
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
    const whole: Walk = { account, way: this.#up, from: { at: first, id: '' }, until: last }
    const isAll = since === null && before === null
    const total = isAll ? await this.#countAll(account) : await this.#countOf(whole)
    const walk = descending
      ? { account, way: this.#down, from: earlier(after, { at: last, id: '' }), until: first }
      : { ...whole, from: later(after, whole.from) }
    const from = await this.#skip(walk, offset)
    return { items: from === null ? [] : await this.#read({ ...walk, from }, limit), total }
  }

  append(entry: AuditEntry): Promise<void> {
    return this.#db.write(() => this.appendWithin(entry))
  }

  async trim(account: string, limit: AuditLimit, tell: DropTeller): Promise<readonly AuditEntry[]> {
    const told: AuditEntry[] = []
    for (let last = ''; ; ) {
      const from = last
      const actors = await this.#db.read(() => this.#actors.all(account, from))
      for (const { actor } of actors) {
        last = String(actor)
        const entry = await this.#trimActor(account, last, limit, tell)
        if (entry) told.push(entry)
        await nextTurn()
      }
      if (actors.length < readStep) return told
    }
  }

  /** As `append`, inside of a transaction. */
  appendWithin(entry: AuditEntry): void {
    const { account, id, at, actor } = entry
    if (this.#insert(account, id, at, actor, JSON.stringify(entry)) === 0) return
    this.#raise(account, 1)
    this.#raiseActor(account, actor, 1)
  }

  #countAll(account: string): Promise<number> {
    return this.#db.read(() => Number(this.#book.get(account)?.count ?? 0))
  }

  async #countOf(walk: Walk): Promise<number> {
    let count = 0
    for (let from: Position | null = walk.from; ; count += countStep) {
      const rest: Walk = { ...walk, from }
      from = await this.#skip(rest, countStep)
      if (from === null) {
        const { account, way, until } = walk
        const { at, id } = rest.from
        return count + Number((await this.#db.read(() => way.count.get(account, at, id, until)))!.count)
      }
      await nextTurn()
    }
  }

  /** Finds the entry that so many steps lead to; null where there are not so many. */
  async #skip({ account, way, from, until }: Walk, steps: number): Promise<Position | null> {
    let position = from
    for (let left = steps; left > 0; left -= countStep) {
      if (left < steps) await nextTurn()
      const { at, id } = position
      const passed = Math.min(left, countStep) - 1
      const row = await this.#db.read(() => way.skip.get(account, at, id, until, passed))
      if (row === undefined) return null
      position = { at: Number(row.at), id: String(row.id) }
    }
    return position
  }

  async #read({ account, way, from, until }: Walk, limit: number): Promise<AuditEntry[]> {
    const entries: AuditEntry[] = []
    for (let rows: Row[] = [], wanted = 0; rows.length === wanted && entries.length < limit; ) {
      if (entries.length > 0) await nextTurn()
      const { at, id } = entries.at(-1) ?? from
      wanted = Math.min(readStep, limit - entries.length)
      rows = await this.#db.read(() => way.read.all(account, at, id, until, wanted))
      for (const row of rows) entries.push(fromRow<AuditEntry>(row))
    }
    return entries
  }

  /** Removes what one actor has too much, and returns the entry of that, if there is one. */
  async #trimActor(account: string, actor: string, limit: AuditLimit, tell: DropTeller) {
    let dropped: DroppedEntries | null = null
    let told: AuditEntry | null = null
    // What needs no change needs no lock.
    while ((await this.#db.read(() => this.#surplus(account, actor, limit))).length > 0) {
      const before: DroppedEntries | null = dropped
      const step: TrimStep = await this.#db.write(() => this.#trimStep(account, actor, limit, tell, before))
      dropped = step.dropped
      told = step.entry ?? told
      await nextTurn()
    }
    return told
  }

  /** Removes some of what one actor has too much, inside of a transaction; `before` is what went in earlier steps. */
  #trimStep(
    account: string,
    actor: string,
    limit: AuditLimit,
    tell: DropTeller,
    before: DroppedEntries | null,
  ): TrimStep {
    const times = this.#surplus(account, actor, limit)
    // Another process has removed it meanwhile.
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

  /** Returns the times of the oldest entries of an actor that have to go, as many as go in one step. */
  #surplus(account: string, actor: string, { before, mostOf }: AuditLimit): readonly number[] {
    const excess = Number(this.#bookOfActor.get(account, actor)?.count ?? 0) - mostOf(actor)
    const times = this.#oldest.all(account, actor, trimStep).map(({ at }) => Number(at))
    return times.filter((at, i) => i < excess || at < before)
  }
}

function wayOf(db: Database, within: string, order: string): Way {
  const rows = `FROM audit_entries WHERE account = ? AND ${within}`
  return {
    read: db.prepare(`SELECT record ${rows} ORDER BY ${order} LIMIT ?`),
    skip: db.prepare(`SELECT at, id ${rows} ORDER BY ${order} LIMIT 1 OFFSET ?`),
    count: db.prepare(`SELECT count(*) AS count ${rows}`),
  }
}

function later(one: Position | null, other: Position): Position {
  return one === null || one.at < other.at ? other : one
}

function earlier(one: Position | null, other: Position): Position {
  return one === null || one.at >= other.at ? other : one
}
