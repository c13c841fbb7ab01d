// The export of AI log entries in the main process of a gateway: a thread that sends, and what it reports.

import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { Worker } from 'node:worker_threads'
import { systemClock } from '../base/clock.ts'
import type { LogExportConfig } from '../config/model/log-export-config.ts'
import type { Logger } from '../log/log.ts'
import { LogThrottle } from '../log/log-throttle.ts'
import type { AiMetrics } from '../metrics/counters/ai-metrics.ts'
import type { SenderOptions } from './sender-program.ts'
import type { SenderFailure, SenderReport } from './sender.ts'

export interface LogExportState {
  /** What waits for the destination; null while another process on this machine sends. */
  readonly waiting: SenderReport['waiting']
  /** Why nothing is delivered; null if all is well. */
  readonly failure: SenderFailure | null
  readonly maxDisk: number
}

interface LogExportParts {
  readonly folder: string
  readonly metrics: AiMetrics
  readonly log: Logger
  /** Ms after which a thread that has crashed is replaced. */
  readonly restart?: number
}

// Like this file, it is JavaScript in the package that is shipped.
const program = fileURLToPath(new URL('./sender-program.ts', import.meta.url)).replace(
  /\.ts$/,
  extname(import.meta.url),
)

/** MB. */
const limits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 }

/** Ms that `close` waits for the attempt that is under way. */
const lastWait = 2000

export class LogExport {
  readonly #parts: LogExportParts
  #config: LogExportConfig | null
  #thread: { readonly worker: Worker; readonly ended: Promise<void> } | null = null
  #restarting: NodeJS.Timeout | undefined
  readonly #warnings: LogThrottle
  #waiting: SenderReport['waiting'] = null
  #failure: SenderFailure | null = null
  #isClosed = false

  constructor(config: LogExportConfig | null, parts: LogExportParts) {
    this.#config = config
    this.#parts = parts
    this.#warnings = new LogThrottle(parts.log, systemClock)
    parts.metrics.waitingForExport = () => this.#waiting
    this.#follow()
  }

  /** Returns null if the export is off. */
  get state(): LogExportState | null {
    if (this.#config === null) return null
    return { waiting: this.#waiting, failure: this.#failure, maxDisk: this.#config.maxDisk }
  }

  reload(config: LogExportConfig | null): void {
    // A batch that is on its way would be cut off, and sent again.
    if (isDeepStrictEqual(config, this.#config)) return
    this.#config = config
    this.#follow()
  }

  /** Ends the thread. What waits stays on the disk for the next start. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restarting)
    await this.#end()
  }

  #follow(): void {
    if (this.#config === null) void this.#end()
    else if (this.#thread === null) this.#start(this.#config)
    else this.#thread.worker.postMessage(this.#config)
  }

  async #end(): Promise<void> {
    const thread = this.#thread
    if (thread === null) return
    thread.worker.postMessage(null)
    const timer = setTimeout(() => void thread.worker.terminate(), lastWait)
    await thread.ended
    clearTimeout(timer)
  }

  #start(config: LogExportConfig): void {
    const { folder, log, restart = 10_000 } = this.#parts
    clearTimeout(this.#restarting)
    const workerData: SenderOptions = { folder, config }
    const worker = new Worker(program, { name: 'log export', workerData, resourceLimits: limits })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    worker.on('message', (report: SenderReport) => this.#hear(report))
    worker.on('error', error => log.error({ err: error }, 'log export failed: internal error'))
    worker.on('exit', () => {
      this.#thread = null
      this.#waiting = this.#failure = null
      resolve()
      // It has crashed, or was turned on again while it ended.
      if (this.#isClosed || this.#config === null) return
      this.#restarting = setTimeout(() => this.#follow(), restart).unref()
    })
    worker.unref()
    this.#thread = { worker, ended }
  }

  #hear({ sent, dropped, damaged, failures, waiting, failure }: SenderReport): void {
    const { metrics, log } = this.#parts
    metrics.exportedEntries.sent.value += sent
    metrics.exportedEntries.dropped.value += dropped
    metrics.exportedEntries.damaged.value += damaged
    for (const kind of failures) metrics.exportFailures[kind].inc()
    if (failure !== null && failure.message !== this.#failure?.message) {
      const { message: reason, isPermanent: needsChange } = failure
      log.warn({ reason, needs_change: needsChange }, 'AI log export failed, entries wait on the disk')
    }
    if (failure === null && this.#failure !== null) log.info('AI log export works again')
    if (dropped > 0)
      this.#warnings.warn('dropped', { dropped }, 'AI log export dropped its oldest entries: too many wait')
    if (damaged > 0) log.warn({ damaged }, 'AI log export skipped damaged files')
    this.#waiting = waiting
    this.#failure = failure
  }
}
