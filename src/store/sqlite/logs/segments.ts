// The tables of log entries, a segment a row and all within a transaction of the caller. Gateways are named by their key.

import { idAt, idsOf, joined, type LogBatch, timesOf } from '../../log-batch/batch.ts'
import { partOf } from '../../log-batch/writer.ts'
import type { LogTime } from '../../contract/store.ts'
import type { Command, Database, Row, Statement } from '../database/database.ts'
import { type End, LogSpans, type Segment, type Span, spanOf } from './shown-times.ts'

/** Entries of a segment, hidden ones included. */
interface Held<T> {
  readonly batch: T
  readonly isShown: (place: number) => boolean
}

type Summaries = Pick<LogBatch, 'ids' | 'heads'>

/** The times of a segment's entries, and which of them are chosen. */
interface Places {
  readonly times: Float64Array
  readonly places: number[]
}

/** One of the entries that are equal in time. */
interface Tied {
  readonly key: number
  readonly place: number
  readonly places: number[]
}

/** Up to so many entries and bytes the last segment takes in what comes next: a quiet gateway would have one for each entry. */
const smallCount = 128
const smallSize = 128 * 1024
/** Segments that hold more than so many times what they show are rewritten once a gateway does, and holds this many entries more than that. */
const mostHeld = 8
const mostSpare = 4096

/** Segments in which an id is looked for without a pause for the rest of the process. */
const searchSlice = 200

export class LogSegments {
  readonly #spans: LogSpans
  readonly #gatewayKey: Statement
  readonly #orphan: Statement
  readonly #closeBook: Command
  readonly #last: Statement
  readonly #having: Statement
  readonly #below: Statement
  readonly #ids: Statement
  readonly #summaries: Statement
  readonly #entries: Statement
  readonly #insert: Statement
  readonly #replace: Command
  readonly #remove: Command

  constructor(db: Database) {
    const ofGateway = 'FROM log_segments WHERE gateway = ?'
    const one = 'FROM log_segments WHERE key = ?'
    this.#spans = new LogSpans(db)
    this.#gatewayKey = db.prepare('SELECT key, created_at FROM gateways WHERE account = ? AND id = ?')
    this.#orphan = db.prepare(
      'SELECT gateway FROM log_books WHERE gateway NOT IN (SELECT key FROM gateways) LIMIT 1',
    )
    this.#closeBook = db.command('DELETE FROM log_books WHERE gateway = ?')
    this.#last = db.prepare(
      `SELECT key, count, length(heads) + length(payloads) AS size ${ofGateway} ORDER BY key DESC LIMIT 1`,
    )
    const some = `SELECT key ${ofGateway} AND key < ? ORDER BY key DESC LIMIT ?`
    this.#having = db.prepare(
      `SELECT key, ids FROM log_segments WHERE key IN (${some}) AND instr(ids, ?) ORDER BY key DESC`,
    )
    this.#below = db.prepare(`SELECT min(key) AS key FROM (${some})`)
    this.#ids = db.prepare(`SELECT ids ${one}`)
    this.#summaries = db.prepare(`SELECT ids, heads ${one}`)
    this.#entries = db.prepare(`SELECT count, earliest, latest, ids, heads, payloads ${one}`)
    this.#insert = db.prepare(
      `INSERT INTO log_segments (count, earliest, latest, ids, heads, payloads, gateway)
       VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING key`,
    )
    this.#replace = db.command(
      `UPDATE log_segments SET count = ?, earliest = ?, latest = ?, ids = ?, heads = ?, payloads = ? WHERE key = ?`,
    )
    this.#remove = db.command('DELETE FROM log_segments WHERE key = ?')
  }

  /** Returns the key of a gateway; null where there is none of that name, or one that was made at another time. */
  gatewayKey(account: string, id: string, madeAt: number | null = null): number | null {
    const row = this.#gatewayKey.get(account, id)
    return row === undefined || (madeAt !== null && row.created_at !== madeAt) ? null : (row.key as number)
  }

  /** Returns the key of a gateway that is gone while its book is there; null when there is none. */
  orphan(): number | null {
    return (this.#orphan.get()?.gateway as number | undefined) ?? null
  }

  /** Returns how many entries a gateway shows. */
  count(gateway: number): number {
    return this.#spans.book(gateway).count
  }

  /** Returns how many entries a segment shows. */
  countIn(segment: number): number {
    return this.#spans.sums(segment).count
  }

  closeBook(gateway: number): void {
    this.#closeBook(gateway)
  }

  /** Lists segments behind a key in the order in which they came. */
  list(gateway: number, after: number, most: number): Segment[] {
    return this.#spans.list(gateway, after, most)
  }

  /** Lists segments that reach into a time, as `list` does. */
  within(gateway: number, time: LogTime, after: number, most: number): Segment[] {
    return this.#spans.within(gateway, time, after, most)
  }

  /** As `within`, with how many entries they hold, hidden ones included. */
  spans(gateway: number, time: LogTime, after: number, most: number): Span[] {
    return this.#spans.spans(gateway, time, after, most)
  }

  /** Returns the last segment before a key; null where there is none. */
  lastBefore(gateway: number, key: number): Segment | null {
    return this.#spans.lastBefore(gateway, key)
  }

  summaries(key: number): Held<Summaries> | null {
    const row = this.#summaries.get(key)
    if (row === undefined) return null
    return { batch: { ids: bytesOf(row, 'ids'), heads: bytesOf(row, 'heads') }, isShown: this.#shown(key) }
  }

  entries(key: number): Held<LogBatch> | null {
    const row = this.#entries.get(key)
    return row ? { batch: toBatch(row), isShown: this.#shown(key) } : null
  }

  /** Returns the segment that shows the entry of an id, and its place there, if it is among the last ones before a key. */
  find(gateway: number, id: string, before: number): { readonly key: number; readonly place: number } | null {
    for (const row of this.#having.all(gateway, before, searchSlice, Buffer.from(id))) {
      const key = row.key as number
      const place = idsOf(bytesOf(row, 'ids')).lastIndexOf(id)
      if (place >= 0 && this.#shown(key)(place)) return { key, place }
    }
    return null
  }

  /** Returns the key before which `find` goes on; null where it has looked at all. */
  below(gateway: number, before: number): number | null {
    return this.#below.get(gateway, before, searchSlice)!.key as number | null
  }

  /** Returns the ids of entries that are shown and were made within the time of a batch, and perhaps others. */
  idsAround(gateway: number, { earliest, latest }: LogBatch): Set<string> {
    const around = this.list(gateway, 0, -1).filter(
      segment => segment.latest >= earliest && segment.earliest <= latest,
    )
    return new Set(around.flatMap(({ key }) => this.#shownIds(key, this.#ids.get(key)!)))
  }

  /** Returns the time of the first entry that a gateway shows, or of the last; null where it has none. */
  edge(gateway: number, end: End): number | null {
    for (const { edge } of this.#spans.inTime(gateway, end)) return edge
    return null
  }

  /** Writes one entry or more behind those that there are; gives their segment. */
  append(gateway: number, batch: LogBatch): number {
    const small = this.#smallLast(gateway, batch)
    const key = small ?? (this.#insert.get(...columnsOf(batch), gateway)!.key as number)
    if (small === null) this.#spans.write(gateway, { ...batch, key })
    else this.#extend(gateway, small, batch)
    return key
  }

  /** Puts what is left of a segment in its place, without its hidden entries. */
  rewrite(gateway: number, key: number, left: LogBatch): void {
    if (left.count === 0) return this.#drop(gateway, key)
    this.#replace(...columnsOf(left), key)
    this.#spans.write(gateway, { ...left, key })
  }

  /** Hides up to so many entries from an end of time on, and removes segments that show nothing any more. */
  hide(gateway: number, most: number, from: End): void {
    const dropped = this.#dropWhole(gateway, most, from)
    for (const [key, found] of this.#outermost(gateway, most - dropped, from))
      this.#hideIn(gateway, key, found)
    const { count, held } = this.#spans.book(gateway)
    if (held <= mostHeld * count + mostSpare) return
    for (const key of this.#spans.sparse(gateway, mostHeld)) {
      const { batch, isShown } = this.entries(key)!
      this.rewrite(
        gateway,
        key,
        partOf(batch, (_, place) => isShown(place)),
      )
    }
  }

  /** Returns how many of these ids a segment shows. */
  countShown(key: number, ids: ReadonlySet<string>): number {
    const row = this.#ids.get(key)
    return row === undefined ? 0 : this.#shownIds(key, row).filter(id => ids.has(id)).length
  }

  /** Removes the segments that came first; gives how many there were. */
  removeSome(gateway: number, most: number): number {
    const some = this.list(gateway, 0, most)
    for (const { key } of some) this.#drop(gateway, key)
    return some.length
  }

  /** Drops the segments at an end of time that reach into no other and show no more than has to go: these need not be read. Gives how many they showed. */
  #dropWhole(gateway: number, most: number, from: End): number {
    for (let dropped = 0; ; ) {
      const [first, next] = this.#spans.outermost(gateway, from)
      if (first === undefined || dropped + first.count > most) return dropped
      if (next !== undefined && isBehind(first, next, from)) return dropped
      this.#drop(gateway, first.key)
      dropped += first.count
    }
  }

  /** Finds the first entries from an end of time on, by segment. */
  #outermost(gateway: number, most: number, from: End): Map<number, Places> {
    const turn = from === 'first' ? 1 : -1
    const found = new Map<number, Places>()
    if (most === 0) return found
    let nearest = new Float64Array()
    for (const { key, edge } of this.#spans.inTime(gateway, from)) {
      if (nearest.length === most && turn * edge > nearest[most - 1]!) break
      const times = this.#spans.times(key) ?? timesOf(this.summaries(key)!.batch)
      found.set(key, { times, places: [] })
      nearest = nearestOf(nearest, times, most, turn)
    }
    this.#choose(found, nearest, turn)
    return found
  }

  /** Fills in the places of the entries that are nearest; what is equal in time goes by id. */
  #choose(found: ReadonlyMap<number, Places>, nearest: Float64Array, turn: 1 | -1): void {
    const last = nearest.at(-1)
    if (last === undefined) return
    const equal: Tied[] = []
    for (const [key, { times, places }] of found)
      for (let place = 0; place < times.length; place++) {
        const time = turn * times[place]!
        if (time < last) places.push(place)
        else if (time === last) equal.push({ key, place, places })
      }
    const count = nearest.length - nearest.indexOf(last)
    const chosen = count === equal.length ? equal : this.#byId(equal, turn).slice(0, count)
    for (const { place, places } of chosen) places.push(place)
  }

  /** Sorts what is equal in time, of which only the ids that are needed are read. */
  #byId(equal: readonly Tied[], turn: 1 | -1): Tied[] {
    const ids = new Map<number, Buffer>()
    const named = equal.map(tied => {
      const { key, place } = tied
      if (!ids.has(key)) ids.set(key, bytesOf(this.#ids.get(key)!, 'ids'))
      return { tied, id: idAt(ids.get(key)!, place) }
    })
    named.sort((a, b) => (a.id < b.id ? -turn : turn))
    return named.map(({ tied }) => tied)
  }

  #hideIn(gateway: number, key: number, { times, places }: Places): void {
    // Times that were read for nothing are kept as well: the next entries to be hidden are mostly among them.
    for (const place of places) times[place] = Number.NaN
    const span = spanOf(key, times)
    if (span.count === 0) this.#drop(gateway, key)
    else this.#spans.write(gateway, span, times)
  }

  #extend(gateway: number, key: number, batch: LogBatch): void {
    const whole = joined(this.entries(key)!.batch, batch)
    const times = this.#spans.times(key)
    this.#replace(...columnsOf(whole), key)
    if (times === null) this.#spans.write(gateway, { ...whole, key })
    else {
      const all = joinedTimes(times, timesOf(batch))
      this.#spans.write(gateway, spanOf(key, all), all)
    }
  }

  #drop(gateway: number, key: number): void {
    this.#remove(key)
    this.#spans.remove(gateway, key)
  }

  #shownIds(key: number, row: Row): string[] {
    const isShown = this.#shown(key)
    return idsOf(bytesOf(row, 'ids')).filter((_, place) => isShown(place))
  }

  #shown(key: number): (place: number) => boolean {
    const times = this.#spans.times(key)
    return times === null ? () => true : place => !Number.isNaN(times[place])
  }

  /** Returns the key of the last segment where a batch goes in. */
  #smallLast(gateway: number, { count, heads, payloads }: LogBatch): number | null {
    const last = this.#last.get(gateway) as { key: number; count: number; size: number } | undefined
    if (last === undefined || last.count + count > smallCount) return null
    return last.size + heads.length + payloads.length > smallSize ? null : last.key
  }
}

/** Whether a segment that begins first ends behind the beginning of the next. */
function isBehind(segment: Segment, next: Segment, from: End): boolean {
  return from === 'first' ? segment.latest >= next.earliest : segment.earliest <= next.latest
}

/** Returns the nearest of the `nearest` so far and the times that are shown, sorted; `turn` tells from which end. */
function nearestOf(
  nearest: Float64Array,
  times: Float64Array,
  most: number,
  turn: 1 | -1,
): Float64Array<ArrayBuffer> {
  const limit = nearest.length < most ? Number.POSITIVE_INFINITY : nearest[most - 1]!
  const all = joinedTimes(nearest, times)
  let size = nearest.length
  for (let place = 0; place < times.length; place++) {
    const time = turn * times[place]!
    if (time <= limit) all[size++] = time
  }
  return all.subarray(0, size).sort().slice(0, most)
}

function joinedTimes(first: Float64Array, second: Float64Array): Float64Array<ArrayBuffer> {
  const all = new Float64Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
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
