// Log entries on their way to a store, as JSON and bytes: they keep nothing of their calls alive.

import type { LogEntry, LogSummary, Payload } from '../records/records.ts'
import { rowOf, summaryOf } from './row.ts'

export interface Bodies {
  readonly request: Body | null
  readonly response: Body | null
  readonly providerResponse: Body | null
}

/** A body before it is text. */
export interface Body {
  readonly bytes: Buffer
  readonly isCut: boolean
  /** Whether it is shown as base64. */
  readonly isBinary: boolean
}

/** The bodies of entries, one behind the other. */
export interface BatchBodies {
  readonly bodies: Buffer
  /** `StoredBodies.layout` of each entry. */
  readonly layout: readonly number[]
}

/** Entries of one gateway in the order in which they came. */
export interface LogBatch extends BatchBodies {
  readonly times: readonly number[]
  readonly ids: readonly string[]
  readonly rows: readonly string[]
  /** Whether an earlier append of some of them failed, and may have stored them all the same. */
  readonly isRepeated: boolean
}

/** The bodies of an entry, one behind the other. */
export interface StoredBodies {
  readonly bytes: Buffer
  /** For each body -1 if there is none, else four times its size and two flags. */
  readonly layout: readonly [request: number, response: number, providerResponse: number]
}

export type Payloads = Pick<LogEntry, keyof Bodies>

const initialSize = 4096
/** Bytes of bodies that are cleaned at once, so that no turn takes long. */
const cleanedSize = 64 * 1024
const cutFlag = 1
const binaryFlag = 2

/** Builds a batch; a subclass may clean the bodies before anybody gets them. */
export class LogBatchWriter {
  /** When the first entry was made, and the last, in ms since the epoch; infinite without one. */
  earliest = Number.POSITIVE_INFINITY
  latest = Number.NEGATIVE_INFINITY
  readonly #times: number[] = []
  readonly #ids: string[] = []
  readonly #rows: string[] = []
  readonly #layout: number[] = []
  #bodies: Buffer = Buffer.allocUnsafeSlow(initialSize)
  #bodiesSize = 0
  #rowsSize = 0
  /** Of the words and bytes of bodies, those that are clean. */
  #cleanWords = 0
  #cleanBytes = 0

  get count(): number {
    return this.#ids.length
  }

  /** Bytes that were added, approximately. */
  get size(): number {
    return this.#rowsSize + this.#bodiesSize
  }

  /** Bytes of memory, approximately. */
  get weight(): number {
    return this.#rowsSize + this.#bodies.length
  }

  /** Adds an entry, and copies its bodies. */
  add(entry: LogSummary, { request, response, providerResponse }: Bodies): void {
    const row = rowOf(entry)
    this.#times.push(entry.createdAt)
    this.#ids.push(entry.id)
    this.#rows.push(row)
    this.#rowsSize += row.length
    this.#addBody(request)
    this.#addBody(response)
    this.#addBody(providerResponse)
    this.earliest = Math.min(this.earliest, entry.createdAt)
    this.latest = Math.max(this.latest, entry.createdAt)
    if (this.#bodiesSize - this.#cleanBytes >= cleanedSize) this.#clean()
  }

  /** Returns what was added, in the same memory. */
  batch(isRepeated = false): LogBatch {
    this.#clean()
    const bodies = this.#bodies.subarray(0, this.#bodiesSize)
    return { times: this.#times, ids: this.#ids, rows: this.#rows, bodies, layout: this.#layout, isRepeated }
  }

  /** Returns bodies to keep in place of others, those of entries from one on; the same for no change. */
  protected cleaned(bodies: BatchBodies, _first: number): BatchBodies {
    return bodies
  }

  #clean(): void {
    const [words, bytes] = [this.#cleanWords, this.#cleanBytes]
    if (this.#bodiesSize > bytes) {
      const dirty = {
        bodies: this.#bodies.subarray(bytes, this.#bodiesSize),
        layout: this.#layout.slice(words),
      }
      const clean = this.cleaned(dirty, words / 3)
      if (clean !== dirty) {
        this.#layout.splice(words, dirty.layout.length, ...clean.layout)
        this.#bodiesSize = bytes
        this.#append(clean.bodies)
      }
    }
    this.#cleanWords = this.#layout.length
    this.#cleanBytes = this.#bodiesSize
  }

  #addBody(body: Body | null): void {
    if (body === null) return void this.#layout.push(-1)
    const { bytes, isCut, isBinary } = body
    this.#append(bytes)
    this.#layout.push(4 * bytes.length + (isCut ? cutFlag : 0) + (isBinary ? binaryFlag : 0))
  }

  #append(bytes: Buffer): void {
    const size = this.#bodiesSize + bytes.length
    if (size > this.#bodies.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bodies.length, size))
      larger.set(this.#bodies.subarray(0, this.#bodiesSize))
      this.#bodies = larger
    }
    this.#bodies.set(bytes, this.#bodiesSize)
    this.#bodiesSize = size
  }
}

/** Makes a batch of entries of one gateway. */
export function batchOf(entries: readonly LogEntry[], isRepeated = false): LogBatch {
  const writer = new LogBatchWriter()
  for (const { request, response, providerResponse, ...summary } of entries)
    writer.add(summary, {
      request: bodyOf(request),
      response: bodyOf(response),
      providerResponse: bodyOf(providerResponse),
    })
  return writer.batch(isRepeated)
}

/** Returns the bodies of each entry. */
export function bodiesOf({ bodies, layout }: BatchBodies): StoredBodies[] {
  const ofEntries: StoredBodies[] = []
  let at = 0
  for (let i = 0; i < layout.length; i += 3) {
    const words = [layout[i]!, layout[i + 1]!, layout[i + 2]!] as const
    const start = at
    for (const word of words) at += sizeOf(word)
    ofEntries.push({ bytes: bodies.subarray(start, at), layout: words })
  }
  return ofEntries
}

/** Returns the bodies of an entry with other bytes; `at`: 0 for the request, then as in `layout`. */
export function changedBodies(
  { bytes, layout }: StoredBodies,
  change: (body: Buffer, at: number, isBinary: boolean) => Buffer,
): StoredBodies {
  let end = 0
  const bodies: Buffer[] = []
  const words = layout.map((word, at) => {
    if (word === -1) return -1
    const body = change(bytes.subarray(end, (end += sizeOf(word))), at, (word & binaryFlag) !== 0)
    bodies.push(body)
    return 4 * body.length + (word & (cutFlag | binaryFlag))
  })
  return { bytes: Buffer.concat(bodies), layout: words as unknown as StoredBodies['layout'] }
}

/** Returns the bodies of entries together; an entry may have none. */
export function joinedBodies(ofEntries: readonly (StoredBodies | null)[]): BatchBodies {
  return {
    bodies: Buffer.concat(ofEntries.map(bodies => bodies?.bytes ?? empty)),
    layout: ofEntries.flatMap(bodies => bodies?.layout ?? [-1, -1, -1]),
  }
}

const empty = Buffer.alloc(0)

/** Returns the bytes of a body by its word in a layout. */
export function sizeOf(word: number): number {
  return word === -1 ? 0 : Math.floor(word / 4)
}

/** Returns the entries of a batch. */
export function entriesOf(batch: LogBatch, account: string, gateway: string): LogEntry[] {
  return bodiesOf(batch).map((bodies, i) => ({
    ...summaryOf(batch.rows[i]!, { account, gateway, createdAt: batch.times[i]!, id: batch.ids[i]! }),
    ...payloadsOf(bodies),
  }))
}

/** Returns bodies as entries show them. */
export function payloadsOf({ bytes, layout }: StoredBodies): Payloads {
  let at = 0
  const [request, response, providerResponse] = layout.map(word => {
    if (word === -1) return null
    const body = bytes.subarray(at, (at += sizeOf(word)))
    const isCut = (word & cutFlag) !== 0
    return (word & binaryFlag) === 0
      ? { text: body.toString(), isCut }
      : { text: body.toString('base64'), isCut, isBase64: true as const }
  })
  return { request: request!, response: response!, providerResponse: providerResponse! }
}

function bodyOf(payload: Payload | null): Body | null {
  if (payload === null) return null
  const { text, isCut, isBase64: isBinary = false } = payload
  return { bytes: Buffer.from(text, isBinary ? 'base64' : 'utf8'), isCut, isBinary }
}
