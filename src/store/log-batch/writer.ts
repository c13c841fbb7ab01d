// Writes log entries into the memory of a batch, so that nothing of the calls that made them lives on. The queue of logs has one for each gateway.

import { entriesOf, idSize, idsOf, type LogBatch } from './batch.ts'
import { withRoom } from './bytes.ts'
import { type Bodies, type Body, Heads } from './head.ts'
import type { LogEntry, LogSummary, Payload } from '../records/records.ts'

/** Bytes to begin with. */
const smallest = 4096

export class LogBatchWriter {
  #count = 0
  #ids: Buffer = Buffer.allocUnsafeSlow(smallest)
  readonly #heads = new Heads()
  #payloads: Buffer = Buffer.allocUnsafeSlow(smallest)
  #payloadsSize = 0
  #earliest = Number.POSITIVE_INFINITY
  #latest = Number.NEGATIVE_INFINITY

  get count(): number {
    return this.#count
  }

  /** When the first entry was made, and the last, in ms since the epoch; infinite without one. */
  get earliest(): number {
    return this.#earliest
  }

  get latest(): number {
    return this.#latest
  }

  /** Bytes that are written. */
  get size(): number {
    return this.#count * idSize + this.#heads.size + this.#payloadsSize
  }

  /** Bytes of memory, used or not. */
  get weight(): number {
    return this.#ids.length + this.#heads.weight + this.#payloads.length
  }

  /** Adds an entry behind the others and copies its bodies. */
  add(entry: LogSummary, bodies: Bodies): void {
    const { request, response, providerResponse } = bodies
    this.#heads.add(entry, bodies)
    this.#addId(entry.id)
    if (request !== null) this.#addPayload(request.bytes)
    if (response !== null) this.#addPayload(response.bytes)
    if (providerResponse !== null) this.#addPayload(providerResponse.bytes)
    this.#earliest = Math.min(this.#earliest, entry.createdAt)
    this.#latest = Math.max(this.#latest, entry.createdAt)
    this.#count++
  }

  /** Returns what was added; it lies in this memory until `clear`. */
  batch(): LogBatch {
    return {
      count: this.#count,
      ids: this.#ids.subarray(0, this.#count * idSize),
      heads: this.#heads.written(),
      payloads: this.#payloads.subarray(0, this.#payloadsSize),
      earliest: this.#earliest,
      latest: this.#latest,
      isRepeated: false,
    }
  }

  /** Starts over in the same memory. */
  clear(): void {
    this.#count = 0
    this.#heads.clear()
    this.#payloadsSize = 0
    this.#earliest = Number.POSITIVE_INFINITY
    this.#latest = Number.NEGATIVE_INFINITY
  }

  #addId(id: string): void {
    const at = this.#count * idSize
    this.#ids = withRoom(this.#ids, at, idSize)
    for (let i = 0; i < idSize; i++) this.#ids[at + i] = id.charCodeAt(i)
  }

  #addPayload(bytes: Buffer): void {
    this.#payloads = withRoom(this.#payloads, this.#payloadsSize, bytes.length)
    this.#payloads.set(bytes, this.#payloadsSize)
    this.#payloadsSize += bytes.length
  }
}

/** Makes a batch of entries of one gateway. */
export function batchOf(entries: readonly LogEntry[]): LogBatch {
  const writer = new LogBatchWriter()
  for (const entry of entries) writer.add(entry, bodiesOf(entry))
  return writer.batch()
}

/** Returns the entries that are wanted; the batch itself where those are all. */
export function partOf(batch: LogBatch, isWanted: (id: string, place: number) => boolean): LogBatch {
  if (idsOf(batch.ids).every(isWanted)) return batch
  return batchOf(entriesOf(batch, '', '').filter(({ id }, place) => isWanted(id, place)))
}

/** Returns the bodies of an entry as they are written. */
export function bodiesOf({ request, response, providerResponse }: LogEntry): Bodies {
  return {
    request: bodyOf(request),
    response: bodyOf(response),
    providerResponse: bodyOf(providerResponse),
  }
}

function bodyOf(payload: Payload | null): Body | null {
  if (payload === null) return null
  const { text, isCut, isBase64: isBinary = false } = payload
  return { bytes: Buffer.from(text, isBinary ? 'base64' : 'utf8'), isCut, isBinary }
}
