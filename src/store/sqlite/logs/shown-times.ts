// What segments of log entries show: how many entries, and of which times; and the sums of that. All within a transaction of the caller.

import type { LogTime } from '../../contract/store.ts'
import type { Command, Database, Row, Statement } from '../database/database.ts'

/** What is known of a segment before its entries are read: of those that it shows. */
export interface Segment {
  readonly key: number
  readonly count: number
  readonly earliest: number
  readonly latest: number
}

/** A segment with how many entries it holds, hidden ones included. */
export interface Span extends Segment {
  readonly held: number
  /** Another one after each change, which may leave all the rest as it was: one entry goes, and another comes. */
  readonly revision: number
}

/** An end of the entries of a gateway, by time. */
export type End = 'first' | 'last'

/** How many entries are shown, and how many there are with those that are hidden. */
interface Sums {
  readonly count: number
  readonly held: number
}

const none: Sums = { count: 0, held: 0 }

export class LogSpans {
  readonly #list: Statement
  readonly #within: Statement
  readonly #spans: Statement
  readonly #lastBefore: Statement
  readonly #inTime: Readonly<Record<End, Statement>>
  readonly #outermost: Readonly<Record<End, Statement>>
  readonly #sparse: Statement
  readonly #times: Statement
  readonly #sums: Statement
  readonly #book: Statement
  readonly #write: Command
  readonly #remove: Command
  readonly #writeBook: Command

  constructor(db: Database) {
    const ofGateway = 'FROM log_spans WHERE gateway = ?'
    const segments = `SELECT segment AS key, count, earliest, latest ${ofGateway}`
    this.#list = db.prepare(`${segments} AND segment > ? ORDER BY segment LIMIT ?`)
    const inTime = `${ofGateway} AND segment > ? AND latest >= ? AND earliest < ? ORDER BY segment LIMIT ?`
    this.#within = db.prepare(`SELECT segment AS key, count, earliest, latest ${inTime}`)
    this.#spans = db.prepare(`SELECT segment AS key, count, held, earliest, latest, revision ${inTime}`)
    this.#lastBefore = db.prepare(`${segments} AND segment < ? ORDER BY segment DESC LIMIT 1`)
    this.#inTime = {
      first: db.prepare(`SELECT segment AS key, earliest AS edge ${ofGateway} ORDER BY earliest`),
      last: db.prepare(`SELECT segment AS key, latest AS edge ${ofGateway} ORDER BY latest DESC`),
    }
    this.#outermost = {
      first: db.prepare(`${segments} ORDER BY earliest LIMIT 2`),
      last: db.prepare(`${segments} ORDER BY latest DESC LIMIT 2`),
    }
    this.#sparse = db.prepare(`SELECT segment AS key ${ofGateway} AND count * ? < held`)
    this.#times = db.prepare('SELECT times FROM log_spans WHERE segment = ?')
    this.#sums = db.prepare('SELECT count, held FROM log_spans WHERE segment = ?')
    this.#book = db.prepare('SELECT count, held FROM log_books WHERE gateway = ?')
    this.#write = db.command(
      `INSERT OR REPLACE INTO log_spans (segment, gateway, count, held, earliest, latest, times, revision)
       VALUES (?, ?, ?, ?, ?, ?, ?, random() >> 11)`,
    )
    this.#remove = db.command('DELETE FROM log_spans WHERE segment = ?')
    this.#writeBook = db.command(
      `INSERT INTO log_books (gateway, count, held) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET count = count + excluded.count, held = held + excluded.held`,
    )
  }

  /** Returns the sums of a gateway. */
  book(gateway: number): Sums {
    return (this.#book.get(gateway) as unknown as Sums | undefined) ?? none
  }

  /** Lists segments behind a key in the order in which they came. */
  list(gateway: number, after: number, most: number): Segment[] {
    return this.#list.all(gateway, after, most) as unknown as Segment[]
  }

  /** As `list`, of those that reach into a time. */
  within(gateway: number, { since, before }: LogTime, after: number, most: number): Segment[] {
    return this.#within.all(gateway, after, since, before, most) as unknown as Segment[]
  }

  /** As `within`, with what they hold. */
  spans(gateway: number, { since, before }: LogTime, after: number, most: number): Span[] {
    return this.#spans.all(gateway, after, since, before, most) as unknown as Span[]
  }

  lastBefore(gateway: number, key: number): Segment | null {
    return (this.#lastBefore.get(gateway, key) as unknown as Segment | undefined) ?? null
  }

  /** Goes through the segments of a gateway from an end of time; `edge` is the time of what stands first there. */
  inTime(gateway: number, from: End): Iterable<{ readonly key: number; readonly edge: number }> {
    return this.#inTime[from].iterate(gateway) as Iterable<Row & { key: number; edge: number }>
  }

  /** Returns the first two segments from an end of time on. */
  outermost(gateway: number, from: End): Segment[] {
    return this.#outermost[from].all(gateway) as unknown as Segment[]
  }

  /** Returns the keys of segments that hold more than so many times what they show. */
  sparse(gateway: number, times: number): number[] {
    return this.#sparse.all(gateway, times).map(({ key }) => key as number)
  }

  /** Returns the time of each entry of a segment, NaN for one that is hidden; null where none is. */
  times(segment: number): Float64Array | null {
    const bytes = this.#times.get(segment)?.times as Uint8Array | null | undefined
    return bytes ? new Float64Array(bytes.slice().buffer) : null
  }

  /** Writes what a segment shows, which is all that it holds where `times` is null. */
  write(gateway: number, { key, count, earliest, latest }: Segment, times: Float64Array | null = null): void {
    const held = times?.length ?? count
    const bytes = times && new Uint8Array(times.buffer, times.byteOffset, times.byteLength)
    this.#tally(gateway, key, { count, held })
    this.#write(key, gateway, count, held, earliest, latest, bytes)
  }

  remove(gateway: number, segment: number): void {
    this.#tally(gateway, segment, none)
    this.#remove(segment)
  }

  /** Returns the sums of a segment. */
  sums(segment: number): Sums {
    return (this.#sums.get(segment) as unknown as Sums | undefined) ?? none
  }

  /** Keeps the sums right before a segment is written. */
  #tally(gateway: number, segment: number, { count, held }: Sums): void {
    const before = this.sums(segment)
    this.#writeBook(gateway, count - before.count, held - before.held)
  }
}

/** Sums up the times that are shown. */
export function spanOf(key: number, times: Float64Array): Segment {
  let [count, earliest, latest] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let place = 0; place < times.length; place++) {
    const time = times[place]!
    if (Number.isNaN(time)) continue
    count++
    if (time < earliest) earliest = time
    if (time > latest) latest = time
  }
  return { key, count, earliest, latest }
}
