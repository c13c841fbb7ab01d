// What the thread that appends log entries is told, and what it tells: bytes in shared memory, and failures in words, since the class of an error gets lost on the way.

import type { LogBatch } from '../../log-batch/batch.ts'
import { type LogLimit, StoreBusy, StoreUnreachable, StoreUntouched } from '../../contract/store.ts'

export interface ThreadOptions {
  readonly path: string
  /** Ms for which a read and a write wait for a lock. */
  readonly patience: number
  readonly writePatience: number
}

/** An append; the bytes of its batch are no buffers any more behind the handover. */
export interface Order {
  readonly account: string
  readonly gateway: string
  readonly batch: LogBatch
  readonly limit: LogLimit
}

export interface Report {
  readonly outcome: number | Failure
  /** Why the file cannot be written, as `Database.fault`. */
  readonly fault: string | null
}

interface Failure {
  readonly kind: keyof typeof errors | null
  readonly message: string
  readonly code: unknown
}

const errors = { busy: StoreBusy, untouched: StoreUntouched, unreachable: StoreUnreachable }

/** Puts an error into words. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof StoreUnreachable))
    return { kind: null, message: String((error as Error).stack), code: null }
  const { message = error.message, code = null } = (error.cause ?? {}) as Partial<Failure>
  const kind = error instanceof StoreBusy ? 'busy' : error.isUndone ? 'untouched' : 'unreachable'
  return { kind, message, code }
}

/** Makes an error of the same class again. */
export function errorOf({ kind, message, code }: Failure): Error {
  if (kind === null) return new Error(message)
  return new errors[kind](Object.assign(new Error(message), { code }))
}

/** Copies the bytes of a batch into memory that is shared with the thread, and which nobody else uses until it has reported. */
export class SharedBytes {
  #memory = new SharedArrayBuffer(0)
  #used = 0

  share({ ids, heads, payloads, ...others }: LogBatch): LogBatch {
    const size = aligned(ids.length) + aligned(heads.length) + payloads.length
    if (size > this.#memory.byteLength) this.#memory = new SharedArrayBuffer(roomFor(size))
    this.#used = 0
    return { ...others, ids: this.#put(ids), heads: this.#put(heads), payloads: this.#put(payloads) }
  }

  #put(bytes: Buffer): Buffer {
    const shared = Buffer.from(this.#memory, this.#used, bytes.length)
    shared.set(bytes)
    this.#used += aligned(bytes.length)
    return shared as Buffer
  }
}

/** Returns the batch with its bytes as buffers in the same memory. */
export function received(batch: LogBatch): LogBatch {
  const { ids, heads, payloads } = batch
  return { ...batch, ids: bufferOn(ids), heads: bufferOn(heads), payloads: bufferOn(payloads) }
}

function bufferOn({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, length)
}

/** The next multiple of the size of a word: V8 copies into shared memory word by word from there, and byte by byte from anywhere else. */
function aligned(size: number): number {
  return (size + 7) & ~7
}

/** The next power of two, so that batches of similar sizes fit. */
function roomFor(size: number): number {
  return 2 ** Math.ceil(Math.log2(size))
}
