// Messages to and from the thread of log entries. Errors are sent as words: their class gets lost on the way.

import type { LogBatch } from '../../log-batch/batch.ts'
import { Cells } from '../../log-sums/cells.ts'
import { type LogSums, StoreBusy, StoreUnreachable, StoreUntouched } from '../../contract/store.ts'
import type { SqliteLogs } from './logs.ts'

export interface ThreadOptions {
  readonly path: string
  /** Ms for which a read and a write wait for a lock. */
  readonly timeout: number
  readonly writeTimeout: number
}

export type ThreadMethod = 'append' | 'list' | 'scan' | 'get' | 'edit' | 'remove' | 'sum' | 'tail'

export interface Order<Method extends ThreadMethod = ThreadMethod> {
  readonly id: number
  readonly method: Method
  readonly args: Parameters<SqliteLogs[Method]>
}

export interface Report {
  readonly id: number
  readonly outcome: { readonly result: unknown } | { readonly failure: Failure }
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

/** Copies bodies into memory that is shared with the thread, and reused only once it has reported. */
export class SharedBodies {
  #memory = new SharedArrayBuffer(0)

  share(batch: LogBatch): LogBatch {
    const { length } = batch.bodies
    // The next power of two, so that batches of similar sizes fit.
    if (length > this.#memory.byteLength)
      this.#memory = new SharedArrayBuffer(2 ** Math.ceil(Math.log2(length)))
    const bodies = Buffer.from(this.#memory, 0, length)
    bodies.set(batch.bodies)
    return { ...batch, bodies: bodies as Buffer }
  }
}

/** The handover makes plain arrays of buffers: returns the batch with its bodies as buffers again. */
export function received(batch: LogBatch): LogBatch {
  const { buffer, byteOffset, length } = batch.bodies as Uint8Array
  return { ...batch, bodies: Buffer.from(buffer as ArrayBuffer, byteOffset, length) }
}

/** Sums with the cells of windows as text. */
export type HandedSums = Omit<LogSums, 'windows'> & { readonly windows: ReadonlyMap<number, string> }

export function handedSums({ windows, ...others }: LogSums): HandedSums {
  return { ...others, windows: new Map(Array.from(windows, ([since, cells]) => [since, cells.toText()])) }
}

/** Reads handed sums, with turns for others between. */
export async function receivedSums({ windows: texts, ...others }: HandedSums): Promise<LogSums> {
  const windows = new Map<number, Cells>()
  for (const [since, text] of texts) windows.set(since, await Cells.from(text))
  return { ...others, windows }
}
