// Rows of an owner by a time and then by id, from either end: counted, skipped and read in steps.

import { nextTurn } from '../../../base/turns/turns.ts'
import type { Position } from '../../contract/store.ts'
import type { Database, Row, Statement } from './database.ts'

/**
 * The rows of an account after a position and up to a time: in ascending order those before it, in descending
 * order those from it on.
 */
export interface Stretch {
  readonly account: string
  readonly descending: boolean
  readonly from: Position
  readonly until: number
}

/**
 * Rows counted in one step, and rows read in one; a step also ends after this many characters, however few
 * rows those were.
 */
const countStep = 5_000
const readStep = 200
const readSize = 64 * 1024

/**
 * The statements of a direction, prepared when they are first needed; each takes the account, the position,
 * the time, and a number.
 */
interface Way {
  readonly read: () => Statement
  readonly skip: () => Statement
  readonly count: () => Statement
}

export class OrderedRows {
  readonly #db: Database
  readonly #up: Way
  readonly #down: Way

  /**
   * `time` is the column of the time, and `owner` must match the account of a stretch; an index must have
   * owner, time and id.
   */
  constructor(db: Database, table: string, time: 'at' | 'created_at', owner = 'account') {
    this.#db = db
    const rows = `FROM ${table} WHERE ${owner} = ? AND`
    this.#up = wayOf(db, time, `${rows} (${time}, id) > (?, ?) AND ${time} < ? ORDER BY ${time}, id`)
    this.#down = wayOf(
      db,
      time,
      `${rows} (${time}, id) < (?, ?) AND ${time} >= ? ORDER BY ${time} DESC, id DESC`,
    )
  }

  async count(stretch: Stretch): Promise<number> {
    const { account, until } = stretch
    let { from } = stretch
    for (let count = 0; ; count += countStep) {
      const next = await this.skip({ ...stretch, from }, countStep)
      if (next === null) {
        const { at, id } = from
        const row = await this.#db.read(() =>
          this.#wayOf(stretch).count().get(account, at, id, until, countStep),
        )
        return count + Number(row!.count)
      }
      from = next
      await nextTurn()
    }
  }

  async skip(stretch: Stretch, steps: number): Promise<Position | null> {
    const { account, until } = stretch
    let position = stretch.from
    for (let left = steps; left > 0; left -= countStep) {
      if (left < steps) await nextTurn()
      const { at, id } = position
      const passed = Math.min(left, countStep) - 1
      const row = await this.#db.read(() => this.#wayOf(stretch).skip().get(account, at, id, until, passed))
      if (row === undefined) return null
      position = positionOf(row)
    }
    return position
  }

  async *read(stretch: Stretch, limit = Infinity): AsyncGenerator<readonly Row[]> {
    const { account, until } = stretch
    let { from } = stretch
    for (let left = limit; left > 0; ) {
      const { at, id } = from
      const count = Math.min(readStep, left)
      const { rows, isCut } = await this.#db.read(() =>
        firstOf(this.#wayOf(stretch).read().iterate(account, at, id, until, count)),
      )
      if (rows.length > 0) yield rows
      if (rows.length < count && !isCut) return
      left -= rows.length
      if (left > 0) await nextTurn()
      from = positionOf(rows.at(-1)!)
    }
  }

  #wayOf({ descending }: Stretch): Way {
    return descending ? this.#down : this.#up
  }
}

export function stretchOf(account: string, after: Position | null = null, descending = false): Stretch {
  const end = descending ? Infinity : -Infinity
  return { account, descending, from: after ?? { at: end, id: '' }, until: -end }
}

export function fromRow<T>(row: Row): T {
  return JSON.parse(String(row.record))
}

function wayOf(db: Database, time: string, rows: string): Way {
  const prepared = (sql: string) => {
    let statement: Statement | null = null
    return () => (statement ??= db.prepare(sql))
  }
  return {
    read: prepared(`SELECT ${time} AS at, id, record ${rows} LIMIT ?`),
    skip: prepared(`SELECT ${time} AS at, id ${rows} LIMIT 1 OFFSET ?`),
    count: prepared(`SELECT count(*) AS count FROM (SELECT 1 ${rows} LIMIT ?)`),
  }
}

/** Takes rows up to the maximum of characters, and returns whether that ended it. */
function firstOf(all: Iterable<Row>): { readonly rows: readonly Row[]; readonly isCut: boolean } {
  const rows: Row[] = []
  let size = 0
  for (const row of all) {
    rows.push(row)
    size += String(row.record).length
    if (size >= readSize) return { rows, isCut: true }
  }
  return { rows, isCut: false }
}

function positionOf({ at, id }: Row): Position {
  return { at: Number(at), id: String(id) }
}
