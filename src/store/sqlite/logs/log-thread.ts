// The thread of log entries, started on demand, so that no request waits for commits and searches.

import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { StoreMetrics } from '../../../metrics/counters/store-metrics.ts'
import type { LogBatch } from '../../log-batch/batch.ts'
import { type LogLimit, StoreBusy, StoreUnreachable } from '../../contract/store.ts'
import type { Database } from '../database/database.ts'
import {
  errorOf,
  type HandedSums,
  type Order,
  receivedSums,
  type Report,
  SharedBodies,
  type ThreadMethod,
  type ThreadOptions,
} from './handover.ts'
import { SqliteLogs } from './logs.ts'

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

/** Threads that an append may end before it is given up: with others it may go on. */
const maxDeaths = 3

export class LogThread {
  readonly #options: LogThreadOptions
  readonly #bodies = new SharedBodies()
  #thread: { readonly worker: Worker; readonly ended: Promise<void> } | null = null
  /** What the thread has still to report, by id. */
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #lastId = 0
  /** Settles when no append is queued any more. */
  #lastAppend: Promise<unknown> = Promise.resolve()
  /** How many threads have ended in appends since the last one reported. */
  #deaths = 0
  #isClosed = false

  constructor(options: LogThreadOptions) {
    this.#options = options
  }

  /** Rejects with `StoreUnreachable` if the thread ends, which may have written the batch. */
  append(account: string, gateway: string, batch: LogBatch, limit: LogLimit): Promise<number> {
    const append = this.#lastAppend.then(() => this.#append(account, gateway, batch, limit))
    this.#lastAppend = append.catch(() => {})
    return append
  }

  /** Does what `SqliteLogs` does in the thread, also while that appends. */
  async call<Method extends ThreadMethod>(
    method: Method,
    ...args: Parameters<SqliteLogs[Method]>
  ): Promise<Awaited<ReturnType<SqliteLogs[Method]>>> {
    if (this.#isClosed) throw new StoreUnreachable()
    this.#thread ??= this.#start()
    const { worker } = this.#thread
    const id = ++this.#lastId
    const reported = Promise.withResolvers<unknown>()
    this.#pending.set(id, reported)
    worker.ref()
    try {
      worker.postMessage({ id, method, args } satisfies Order)
      return (await reported.promise) as Awaited<ReturnType<SqliteLogs[Method]>>
    } finally {
      this.#pending.delete(id)
      if (this.#pending.size === 0) worker.unref()
    }
  }

  /** Ends the thread, once it has written what it can at once; later calls reject. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#thread === null) return
    const { worker, ended } = this.#thread
    worker.ref()
    worker.postMessage(null)
    await ended
  }

  async #append(account: string, gateway: string, batch: LogBatch, limit: LogLimit): Promise<number> {
    const { queuedWrites, refusedWrites } = this.#options.metrics
    queuedWrites.inc()
    try {
      const count = await this.call('append', account, gateway, this.#bodies.share(batch), limit)
      this.#deaths = 0
      return count
    } catch (error) {
      if (error instanceof StoreBusy) refusedWrites.locked.inc()
      this.#deaths = error instanceof ThreadEnded ? this.#deaths + 1 : 0
      if (this.#deaths < maxDeaths) throw error
      this.#deaths = 0
      throw (error as ThreadEnded).cause
    } finally {
      queuedWrites.dec()
    }
  }

  #start() {
    const { path, timeout, writeTimeout } = this.#options
    const workerData: ThreadOptions = { path, timeout, writeTimeout }
    const worker = new Worker(program, { name: 'log entries', workerData, resourceLimits: limits })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    let cause: unknown = new Error('the thread that writes log entries has ended')
    worker.on('message', (report: Report) => this.#hear(report))
    worker.on('error', error => (cause = error))
    worker.on('exit', () => {
      this.#thread = null
      for (const { reject } of this.#pending.values()) reject(new ThreadEnded(cause))
      resolve()
    })
    worker.unref()
    return { worker, ended }
  }

  #hear({ id, outcome, fault }: Report): void {
    this.#options.report(fault === null ? null : new Error(fault))
    const { resolve, reject } = this.#pending.get(id)!
    if ('result' in outcome) return resolve(outcome.result)
    reject(errorOf(outcome.failure))
  }
}

/** The thread has ended; nobody knows what it has written. */
class ThreadEnded extends StoreUnreachable {}

/** Log entries of which a thread writes, searches and sums up. */
export class ThreadedLogs extends SqliteLogs {
  readonly #thread: LogThread

  constructor(db: Database, thread: LogThread) {
    super(db)
    this.#thread = thread
  }

  override append(...args: Parameters<SqliteLogs['append']>) {
    return this.#thread.append(...args)
  }

  override list(...args: Parameters<SqliteLogs['list']>) {
    return this.#thread.call('list', ...args)
  }

  override scan(...args: Parameters<SqliteLogs['scan']>) {
    return this.#thread.call('scan', ...args)
  }

  override get(...args: Parameters<SqliteLogs['get']>) {
    return this.#thread.call('get', ...args)
  }

  override edit(...args: Parameters<SqliteLogs['edit']>) {
    return this.#thread.call('edit', ...args)
  }

  override remove(...args: Parameters<SqliteLogs['remove']>) {
    return this.#thread.call('remove', ...args)
  }

  override tail(...args: Parameters<SqliteLogs['tail']>) {
    return this.#thread.call('tail', ...args)
  }

  override async sum(...args: Parameters<SqliteLogs['sum']>) {
    return receivedSums((await this.#thread.call('sum', ...args)) as unknown as HandedSums)
  }
}
