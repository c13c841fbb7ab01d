// Tallies in the file of the counters, a row for each slot, and one for the occurrences of each name. Expired
// ones are removed when others arrive.

import type { Clock } from '../../base/clock.ts'
import { nextTurn } from '../../base/turns/turns.ts'
import type { Tallies } from '../contract/store.ts'
import {
  endOfSlot,
  lastOf,
  type Occurrence,
  type Tally,
  type TallyKind,
  tallyKinds,
  type TallySum,
} from '../records/tally.ts'
import { type Command, type Database, openCounts, type Statement } from './database/database.ts'

/** Expired rows that one write removes besides as many as it writes. */
const sweepSize = 50
const readStep = 500
/** The maximum number of tallies in one transaction: rate limits are counted in the same file. */
const maxAtOnce = 200

const tables = `
  CREATE TABLE IF NOT EXISTS tallies (
    kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    slot REAL NOT NULL,
    ends_at REAL NOT NULL,
    count INTEGER NOT NULL,
    last REAL NOT NULL,
    PRIMARY KEY (kind, scope, name, slot)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS tallies_by_end ON tallies (ends_at);
  CREATE TABLE IF NOT EXISTS occurrences (
    kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    ends_at REAL NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (kind, scope, name)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS occurrences_by_end ON occurrences (ends_at)`

export class SqliteTallies implements Tallies {
  readonly #db: Database
  readonly #clock: Clock
  readonly #add: Command
  readonly #list: Statement
  readonly #get: Statement
  readonly #put: Command
  readonly #sweeps: readonly Command[]

  static async open(path: string, timeout: number, clock: Clock): Promise<SqliteTallies> {
    return new SqliteTallies(await openCounts(path, tables, timeout), clock)
  }

  private constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.#add = db.command(
      `INSERT INTO tallies (kind, scope, name, slot, ends_at, count, last) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET count = count + excluded.count, last = max(last, excluded.last)`,
    )
    this.#list = db.prepare(
      `SELECT name, slot, count, last FROM tallies
         WHERE kind = ? AND scope = ? AND (name, slot) > (?, ?) AND slot >= ? AND ends_at > ?
         ORDER BY name, slot LIMIT ${readStep}`,
    )
    this.#get = db.prepare(
      'SELECT record FROM occurrences WHERE kind = ? AND scope = ? AND name = ? AND ends_at > ?',
    )
    this.#put = db.command(
      'INSERT OR REPLACE INTO occurrences (kind, scope, name, ends_at, record) VALUES (?, ?, ?, ?, ?)',
    )
    this.#sweeps = [
      db.command(
        `DELETE FROM tallies WHERE (kind, scope, name, slot) IN
           (SELECT kind, scope, name, slot FROM tallies WHERE ends_at <= ? ORDER BY ends_at LIMIT ?)`,
      ),
      db.command(
        `DELETE FROM occurrences WHERE rowid IN
           (SELECT rowid FROM occurrences WHERE ends_at <= ? ORDER BY ends_at LIMIT ?)`,
      ),
    ]
  }

  get fault(): string | null {
    return this.#db.fault
  }

  async add(tallies: readonly Tally[]): Promise<void> {
    for (let from = 0; from < tallies.length; from += maxAtOnce) {
      const some = tallies.slice(from, from + maxAtOnce)
      await this.#db.write(() => {
        const now = this.#clock.now()
        for (const sweep of this.#sweeps) sweep(now, sweepSize + some.length)
        for (const tally of some) this.#addWithin(tally, now)
      })
    }
  }

  async list(kind: TallyKind, scope: string, since: number): Promise<readonly TallySum[]> {
    const sums = new Map<string, { name: string; slots: [number, number][]; last: number }>()
    const now = this.#clock.now()
    for (let from: readonly [name: string, slot: number] = ['', Number.NEGATIVE_INFINITY]; ; ) {
      // Before the first step too: many lists may be requested at once.
      await nextTurn()
      const [name, slot] = from
      const rows = await this.#db.read(() => this.#list.all(kind, scope, name, slot, since, now))
      for (const { name, slot, count, last } of rows) {
        const key = String(name)
        const sum = sums.get(key) ?? { name: key, slots: [], last: 0 }
        sums.set(key, sum)
        sum.slots.push([Number(slot), Number(count)])
        sum.last = Math.max(sum.last, Number(last))
        from = [key, Number(slot)]
      }
      if (rows.length < readStep) return [...sums.values()]
    }
  }

  async occurrences(kind: TallyKind, scope: string, name: string): Promise<readonly Occurrence[]> {
    const now = this.#clock.now()
    return this.#db.read(() => this.#occurrencesWithin({ kind, scope, name }, now))
  }

  close(): void {
    this.#db.close()
  }

  #addWithin(tally: Tally, now: number): void {
    const { kind, scope, name, slot, count, last, occurrences } = tally
    this.#add(kind, scope, name, slot, endOfSlot(kind, slot), count, last)
    if (occurrences.length === 0) return
    const newest = lastOf(occurrences, this.#occurrencesWithin(tally, now))
    this.#put(kind, scope, name, newest[0]!.at + tallyKinds[kind].retention, JSON.stringify(newest))
  }

  #occurrencesWithin(
    { kind, scope, name }: Pick<Tally, 'kind' | 'scope' | 'name'>,
    now: number,
  ): readonly Occurrence[] {
    const row = this.#get.get(kind, scope, name, now)
    if (row === undefined) return []
    const occurrences = JSON.parse(String(row.record)) as readonly Occurrence[]
    return occurrences.filter(({ at }) => at + tallyKinds[kind].retention > now)
  }
}
