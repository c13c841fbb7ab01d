// The tables of log entries, a segment a row and all within a transaction of the caller. Gateways are named by their key.
import { idsOf, joined, type LogBatch } from '../../log-batch/batch.ts'
import type { Command, Database, Row, Statement } from '../database/database.ts'

/** What is known of a segment before its entries are read. */
export interface Segment {
  readonly key: number
  /** Entries, the hidden ones included. */
  readonly count: number
  readonly earliest: number
  readonly latest: number
}

/** How many entries a gateway shows, and how many it hides at the beginning of its first segment. */
interface Book {
  readonly count: number
  readonly hidden: number
}

type Summaries = Pick<LogBatch, 'ids' | 'heads'>

/** Up to so many entries and bytes the last segment takes in what comes next: a quiet gateway would have one for each entry. */
const smallCount = 128
const smallSize = 128 * 1024

export class LogSegments {
  readonly #gatewayKey: Statement
  readonly #orphan: Statement
  readonly #readBook: Statement
  readonly #writeBook: Command
  readonly #closeBook: Command
  readonly #list: Statement
  readonly #last: Statement
  readonly #having: Statement
  readonly #summaries: Statement
  readonly #entries: Statement
  readonly #insert: Command
  readonly #replace: Command
  readonly #remove: Command

  constructor(db: Database) {
    const ofGateway = 'FROM log_segments WHERE gateway = ?'
    const one = 'FROM log_segments WHERE gateway = ? AND key = ?'
    this.#gatewayKey = db.prepare('SELECT key FROM gateways WHERE account = ? AND id = ?')
    this.#orphan = db.prepare(
      'SELECT gateway FROM log_books WHERE gateway NOT IN (SELECT key FROM gateways) LIMIT 1',
    )
    this.#readBook = db.prepare('SELECT count, hidden FROM log_books WHERE gateway = ?')
    this.#writeBook = db.command('INSERT OR REPLACE INTO log_books (gateway, count, hidden) VALUES (?, ?, ?)')
    this.#closeBook = db.command('DELETE FROM log_books WHERE gateway = ?')
    this.#list = db.prepare(
      `SELECT key, count, earliest, latest ${ofGateway} AND key > ? ORDER BY key LIMIT ?`,
    )
    this.#last = db.prepare(
      `SELECT key, count, length(heads) + length(payloads) AS size ${ofGateway} ORDER BY key DESC LIMIT 1`,
    )
    this.#having = db.prepare(`SELECT key, ids ${ofGateway} AND instr(ids, ?) ORDER BY key DESC`)
    this.#summaries = db.prepare(`SELECT ids, heads ${one}`)
    this.#entries = db.prepare(`SELECT count, earliest, latest, ids, heads, payloads ${one}`)
    this.#insert = db.command(
      `INSERT INTO log_segments (count, earliest, latest, ids, heads, payloads, gateway)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#replace = db.command(
      `UPDATE log_segments SET count = ?, earliest = ?, latest = ?, ids = ?, heads = ?, payloads = ? WHERE key = ?`,
    )
    this.#remove = db.command('DELETE FROM log_segments WHERE key = ?')
  }

  gatewayKey(account: string, id: string): number | null {
    return (this.#gatewayKey.get(account, id)?.key as number | undefined) ?? null
  }

  /** Gives the key of a gateway that is gone while its book is there; null when there is none. */
  orphan(): number | null {
    return (this.#orphan.get()?.gateway as number | undefined) ?? null
  }

  book(gateway: number): Book {
    return (this.#readBook.get(gateway) as unknown as Book | undefined) ?? { count: 0, hidden: 0 }
  }

  closeBook(gateway: number): void {
    this.#closeBook(gateway)
  }

  /** Lists segments behind a key in the order in which they came. */
  list(gateway: number, after: number, most: number): Segment[] {
    return this.#list.all(gateway, after, most) as unknown as Segment[]
  }

  /** Gives how many entries are hidden at the beginning of a segment. */
  hidden(gateway: number, key: number): number {
    const { hidden } = this.book(gateway)
    return hidden > 0 && this.list(gateway, 0, 1)[0]?.key === key ? hidden : 0
  }

  summaries(gateway: number, key: number): Summaries | null {
    const row = this.#summaries.get(gateway, key)
    return row ? { ids: bytesOf(row, 'ids'), heads: bytesOf(row, 'heads') } : null
  }

  entries(gateway: number, key: number): LogBatch | null {
    const row = this.#entries.get(gateway, key)
    return row ? toBatch(row) : null
  }

  /** Gives the segment that shows the entry of an id, and its place there. */
  find(gateway: number, id: string): { readonly key: number; readonly place: number } | null {
    for (const row of this.#having.all(gateway, Buffer.from(id))) {
      const key = row.key as number
      const place = idsOf(bytesOf(row, 'ids')).lastIndexOf(id)
      if (place >= this.hidden(gateway, key)) return { key, place }
    }
    return null
  }

  /** Gives the ids of entries that were made within the time of a batch, and perhaps others. */
  idsAround(gateway: number, { earliest, latest }: LogBatch): Set<string> {
    const around = this.list(gateway, 0, -1).filter(
      segment => segment.latest >= earliest && segment.earliest <= latest,
    )
    return new Set(around.flatMap(({ key }) => idsOf(this.summaries(gateway, key)!.ids)))
  }

  /** Writes entries behind those that there are. */
  append(gateway: number, batch: LogBatch): void {
    if (batch.count === 0) return
    const small = this.#smallLast(gateway, batch)
    if (small === null) this.#insert(...columnsOf(batch), gateway)
    else this.#replace(...columnsOf(joined(this.entries(gateway, small)!, batch)), small)
    const { count, hidden } = this.book(gateway)
    this.#writeBook(gateway, count + batch.count, hidden)
  }

  /** Puts what is left of a segment in its place, without its hidden entries; `removed` is how many of the others are gone. */
  rewrite(gateway: number, key: number, left: LogBatch, removed: number): void {
    const { count, hidden } = this.book(gateway)
    const isHiding = this.hidden(gateway, key) > 0
    if (left.count === 0) this.#remove(key)
    else this.#replace(...columnsOf(left), key)
    this.#writeBook(gateway, count - removed, isHiding ? 0 : hidden)
  }

  /** Removes the entries that came first; gives how many there were. */
  removeOldest(gateway: number, most: number): number {
    let { count, hidden } = this.book(gateway)
    let left = Math.min(most, count)
    const removed = left
    while (left > 0) {
      const [first] = this.list(gateway, 0, 1)
      const shown = first!.count - hidden
      if (shown > left) {
        hidden += left
        break
      }
      this.#remove(first!.key)
      left -= shown
      hidden = 0
    }
    if (removed > 0) this.#writeBook(gateway, count - removed, hidden)
    return removed
  }

  /** Gives the key of the last segment where a batch goes in. */
  #smallLast(gateway: number, { count, heads, payloads }: LogBatch): number | null {
    const last = this.#last.get(gateway) as { key: number; count: number; size: number } | undefined
    if (last === undefined || last.count + count > smallCount) return null
    return last.size + heads.length + payloads.length > smallSize ? null : last.key
  }
}

function columnsOf({ count, earliest, latest, ids, heads, payloads }: LogBatch) {
  return [count, earliest, latest, ids, heads, payloads] as const
}

function toBatch(row: Row): LogBatch {
  return {
    count: row.count as number,
    earliest: row.earliest as number,
    latest: row.latest as number,
    ids: bytesOf(row, 'ids'),
    heads: bytesOf(row, 'heads'),
    payloads: bytesOf(row, 'payloads'),
    isRepeated: false,
  }
}

function bytesOf(row: Row, column: string): Buffer {
  const { buffer, byteOffset, byteLength } = row[column] as Uint8Array<ArrayBuffer>
  return Buffer.from(buffer, byteOffset, byteLength)
}
