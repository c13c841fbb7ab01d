// Writes log entries into the memory of a batch, so that nothing of the calls that made them lives on. The queue of logs has one for each gateway.
import { entriesOf, idSize, idsOf, type LogBatch } from './log-batch.ts'
import { type Body, writeHead } from './log-head.ts'
import type { LogEntry, LogSummary, Payload } from './records.ts'

/** Bytes to begin with. */
const smallest = 4096
/** What one unit of a string takes in UTF-8. */
const mostOfUnit = 3

export class LogBatchWriter {
  #count = 0
  #ids: Buffer = Buffer.allocUnsafeSlow(smallest)
  #heads: Buffer = Buffer.allocUnsafeSlow(smallest)
  #headsSize = 0
  #payloads: Buffer = Buffer.allocUnsafeSlow(smallest)
  #payloadsSize = 0
  #earliest = Number.POSITIVE_INFINITY
  #latest = Number.NEGATIVE_INFINITY

  get count(): number {
    return this.#count
  }

  /** Bytes that are written. */
  get size(): number {
    return this.#count * idSize + this.#headsSize + this.#payloadsSize
  }

  /** Bytes of memory, used or not. */
  get weight(): number {
    return this.#ids.length + this.#heads.length + this.#payloads.length
  }

  /** Adds an entry behind the others and copies its bodies. */
  add(entry: LogSummary, request: Body | null, response: Body | null): void {
    const head = writeHead(entry, request, response)
    const idAt = this.#count * idSize
    this.#ids = withRoom(this.#ids, idAt, idSize)
    this.#ids.write(entry.id, idAt)
    this.#heads = withRoom(this.#heads, this.#headsSize, head.length * mostOfUnit)
    this.#headsSize += this.#heads.write(head, this.#headsSize)
    if (request !== null) this.#addPayload(request.bytes)
    if (response !== null) this.#addPayload(response.bytes)
    this.#earliest = Math.min(this.#earliest, entry.createdAt)
    this.#latest = Math.max(this.#latest, entry.createdAt)
    this.#count++
  }

  /** Gives what was added; it lies in this memory until `clear`. */
  batch(): LogBatch {
    return {
      count: this.#count,
      ids: this.#ids.subarray(0, this.#count * idSize),
      heads: this.#heads.subarray(0, this.#headsSize),
      payloads: this.#payloads.subarray(0, this.#payloadsSize),
      earliest: this.#earliest,
      latest: this.#latest,
      isRepeated: false,
    }
  }

  /** Begins anew in the same memory. */
  clear(): void {
    this.#count = 0
    this.#headsSize = 0
    this.#payloadsSize = 0
    this.#earliest = Number.POSITIVE_INFINITY
    this.#latest = Number.NEGATIVE_INFINITY
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
  for (const entry of entries) writer.add(entry, bodyOf(entry.request), bodyOf(entry.response))
  return writer.batch()
}

/** Gives the entries that are wanted; the batch itself where those are all. */
export function partOf(batch: LogBatch, isWanted: (id: string, place: number) => boolean): LogBatch {
  if (idsOf(batch.ids).every(isWanted)) return batch
  return batchOf(entriesOf(batch, '', '').filter(({ id }, place) => isWanted(id, place)))
}

function bodyOf(payload: Payload | null): Body | null {
  return payload && { bytes: Buffer.from(payload.text), isCut: payload.isCut }
}

function withRoom(buffer: Buffer, used: number, more: number): Buffer {
  if (used + more <= buffer.length) return buffer
  const larger = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, used + more))
  larger.set(buffer.subarray(0, used))
  return larger
}
