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

/** Entries of one gateway in the order in which they came. */
export interface LogBatch {
  readonly times: readonly number[]
  readonly ids: readonly string[]
  readonly rows: readonly string[]
  /** The bodies, entry by entry. */
  readonly bodies: Buffer
  /** `StoredBodies.layout` of each entry. */
  readonly layout: readonly number[]
  /** Whether an earlier append of some of them failed, and may have stored them all the same. */
  readonly isRepeated: boolean
}

/** The bodies of an entry, one behind the other. */
interface StoredBodies {
  readonly bytes: Buffer
  /** For each body -1 if there is none, else four times its size and two flags. */
  readonly layout: readonly [request: number, response: number, providerResponse: number]
}

const initialSize = 4096
const cutFlag = 1
const binaryFlag = 2

/** Builds a batch. */
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
  }

  /** Returns what was added, in the same memory. */
  batch(isRepeated = false): LogBatch {
    const bodies = this.#bodies.subarray(0, this.#bodiesSize)
    return { times: this.#times, ids: this.#ids, rows: this.#rows, bodies, layout: this.#layout, isRepeated }
  }

  #addBody(body: Body | null): void {
    if (body === null) return void this.#layout.push(-1)
    const { bytes, isCut, isBinary } = body
    const size = this.#bodiesSize + bytes.length
    if (size > this.#bodies.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bodies.length, size))
      larger.set(this.#bodies.subarray(0, this.#bodiesSize))
      this.#bodies = larger
    }
    this.#bodies.set(bytes, this.#bodiesSize)
    this.#bodiesSize = size
    this.#layout.push(4 * bytes.length + (isCut ? cutFlag : 0) + (isBinary ? binaryFlag : 0))
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

/** Yields the bodies of each entry of a batch, and their layout. */
export function* bodiesOf({ ids, bodies, layout }: LogBatch): Generator<StoredBodies> {
  let at = 0
  for (let i = 0; i < 3 * ids.length; i += 3) {
    const words = [layout[i]!, layout[i + 1]!, layout[i + 2]!] as const
    const start = at
    for (const word of words) at += sizeOf(word)
    yield { bytes: at === start ? empty : bodies.subarray(start, at), layout: words }
  }
}

const empty = Buffer.alloc(0)

function sizeOf(word: number): number {
  return word === -1 ? 0 : Math.floor(word / 4)
}

/** Returns the entries of a batch. */
export function entriesOf(batch: LogBatch, account: string, gateway: string): LogEntry[] {
  return Array.from(bodiesOf(batch), (bodies, i) => ({
    ...summaryOf(batch.rows[i]!, { account, gateway, createdAt: batch.times[i]!, id: batch.ids[i]! }),
    ...payloadsOf(bodies),
  }))
}

/** Returns bodies as entries show them. */
export function payloadsOf({ bytes, layout }: StoredBodies): Pick<LogEntry, keyof Bodies> {
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
