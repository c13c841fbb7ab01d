// The bodies of log entries, those of a batch in one row: an entry costs a quarter less than with a row each.

import { type BatchBodies, bodiesOf, joinedBodies, type Payloads, payloadsOf } from '../../log-batch/batch.ts'
import type { Command, Database, Row, Statement } from '../database/database.ts'

export type KeyRange = readonly [first: number, last: number]

const noPayloads: Payloads = { request: null, response: null, providerResponse: null }

export class LogBodies {
  readonly #insert: Command
  readonly #find: Statement
  readonly #touched: Statement
  readonly #keys: Statement
  readonly #rewrite: Command
  readonly #removeUnused: Command

  constructor(db: Database) {
    // A range of keys can begin within a batch.
    const touched = 'key <= ? AND key >= coalesce((SELECT max(key) FROM log_bodies WHERE key <= ?), 0)'
    const entries = 'SELECT key FROM log_entries AS entry WHERE entry.key BETWEEN'
    this.#insert = db.command('INSERT INTO log_bodies (key, count, layout, bodies) VALUES (?, ?, ?, ?)')
    this.#find = db.prepare('SELECT * FROM log_bodies WHERE key <= ? ORDER BY key DESC LIMIT 1')
    this.#touched = db.prepare(`SELECT key FROM log_bodies WHERE ${touched}`)
    this.#keys = db.prepare(`${entries} ? AND ?`)
    this.#rewrite = db.command('UPDATE log_bodies SET layout = ?, bodies = ? WHERE key = ?')
    this.#removeUnused = db.command(
      `DELETE FROM log_bodies WHERE ${touched}
       AND NOT EXISTS (${entries} log_bodies.key AND log_bodies.key + count - 1)`,
    )
  }

  /** Stores the bodies of entries with consecutive keys. */
  insert(first: number, { bodies, layout }: BatchBodies): void {
    if (layout.every(word => word === -1)) return
    this.#insert(first, layout.length / 3, JSON.stringify(layout), bodies)
  }

  /** Yields the bodies of entries, whose keys ascend. */
  *of(keys: Iterable<number>): Generator<Payloads> {
    let [first, bodies]: [number, ReturnType<typeof bodiesOf>] = [0, []]
    for (const key of keys) {
      if (key >= first + bodies.length) {
        const row = this.#find.get(key)
        if (row !== undefined) [first, bodies] = [row.key as number, bodiesIn(row)]
      }
      const own = bodies[key - first]
      yield own === undefined ? noPayloads : payloadsOf(own)
    }
  }

  /** Removes the batches that touch a range of removed entries, and have no others. */
  removeUnused([first, last]: KeyRange): void {
    this.#removeUnused(last, first)
  }

  /** Removes the bodies of removed entries from the batches that touch their ranges. */
  erase(ranges: readonly KeyRange[]): void {
    const touched = new Set(ranges.flatMap(([first, last]) => this.#touched.all(last, first).map(keyOf)))
    for (const key of touched) {
      const bodies = bodiesIn(this.#find.get(key)!)
      const keys = new Set(this.#keys.all(key, key + bodies.length - 1).map(keyOf))
      const left = joinedBodies(bodies.map((own, i) => (keys.has(key + i) ? own : null)))
      this.#rewrite(JSON.stringify(left.layout), left.bodies, key)
    }
  }
}

function keyOf({ key }: Row): number {
  return key as number
}

function bodiesIn({ layout, bodies }: Row) {
  const { buffer, byteOffset, byteLength } = bodies as Uint8Array<ArrayBuffer>
  return bodiesOf({
    layout: JSON.parse(layout as string),
    bodies: Buffer.from(buffer, byteOffset, byteLength),
  })
}
