// Has log entries appended by a thread, so that no request waits for their commits and checkpoints. It starts with the first entries, and again where it has ended.

import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { StoreMetrics } from '../../../metrics/counters/store-metrics.ts'
import type { LogBatch } from '../../log-batch/batch.ts'
import { type LogLimit, type Logs, StoreBusy, StoreUnreachable } from '../../contract/store.ts'
import { errorOf, type Order, type Report, SharedBytes, type ThreadOptions } from './handover.ts'

interface LogThreadOptions extends ThreadOptions {
  readonly metrics: StoreMetrics
  /** Hears why the file could not be written; null where it could. */
  readonly report: (failure: Error | null) => void
}

// Like this file, it is JavaScript in the package that is shipped.
const program = fileURLToPath(new URL('./thread-program.ts', import.meta.url)).replace(
  /\.ts$/,
  extname(import.meta.url),
)

/** MB. It holds few objects: small heaps keep the memory of what has passed low. */
const limits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 256 }

/** Threads that one append may end before it is given up: with others it may go on. */
const mostDeaths = 3

export class LogThread implements Pick<Logs, 'append'> {
  readonly #options: LogThreadOptions
  readonly #bytes = new SharedBytes()
  #thread: { readonly worker: Worker; readonly ended: Promise<void> } | null = null
  /** The append that the thread is at. */
  #current: PromiseWithResolvers<number> | null = null
  /** Settles when nothing is asked of it any more. */
  #last: Promise<unknown> = Promise.resolve()
  /** How many threads have ended since the last one reported. */
  #deaths = 0
  #isClosed = false

  constructor(options: LogThreadOptions) {
    this.#options = options
  }

  /** Appends one batch after the other, as `Logs.append` does; rejects with `StoreUnreachable` where the thread ends meanwhile, and nobody knows what it has written. */
  append(account: string, gateway: string, batch: LogBatch, limit: LogLimit): Promise<number> {
    const append = this.#last.then(() => this.#hand({ account, gateway, batch, limit }))
    this.#last = append.catch(() => {})
    return append
  }

  /** Ends the thread, once it has written what it can at once; later appends reject. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#thread === null) return
    const { worker, ended } = this.#thread
    worker.ref()
    worker.postMessage(null)
    await ended
  }

  async #hand(order: Order): Promise<number> {
    if (this.#isClosed) throw new StoreUnreachable()
    const { queuedWrites } = this.#options.metrics
    this.#thread ??= this.#start()
    const { worker } = this.#thread
    this.#current = Promise.withResolvers()
    queuedWrites.inc()
    worker.ref()
    try {
      worker.postMessage({ ...order, batch: this.#bytes.share(order.batch) })
      return await this.#current.promise
    } finally {
      queuedWrites.dec()
      worker.unref()
      this.#current = null
    }
  }

  #start() {
    const { path, patience, writePatience } = this.#options
    const workerData: ThreadOptions = { path, patience, writePatience }
    const worker = new Worker(program, { name: 'log entries', workerData, resourceLimits: limits })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    let cause: unknown = new Error('the thread that writes log entries has ended')
    worker.on('message', (report: Report) => this.#hear(report))
    worker.on('error', error => (cause = error))
    worker.on('exit', () => {
      this.#lose(cause)
      resolve()
    })
    worker.unref()
    return { worker, ended }
  }

  #hear({ outcome, fault }: Report): void {
    const { report, metrics } = this.#options
    this.#deaths = 0
    report(fault === null ? null : new Error(fault))
    if (typeof outcome === 'number') return this.#current!.resolve(outcome)
    const error = errorOf(outcome)
    if (error instanceof StoreBusy) metrics.refusedWrites.locked.inc()
    this.#current!.reject(error)
  }

  #lose(cause: unknown): void {
    this.#thread = null
    if (this.#current === null) return
    const isHopeless = ++this.#deaths === mostDeaths
    if (isHopeless) this.#deaths = 0
    this.#current.reject(isHopeless ? cause : new StoreUnreachable(cause))
  }
}
