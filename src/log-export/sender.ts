// Sends what waits in the spool to the destination, batch by batch, each until it is confirmed.

import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { makeFolderSync } from '../base/system/folders.ts'
import type { LogExportConfig } from '../config/model/log-export-config.ts'
import type { DeliveryFailure, Destination, failureKinds } from './destination.ts'
import { Outbox } from './outbox.ts'
import { SpoolLock } from './spool-lock.ts'

/** What happened since the last report, and how things are. */
export interface SenderReport {
  readonly sent: number
  readonly dropped: number
  /** Entries of files that a crash of the system damaged. */
  readonly damaged: number
  readonly failures: readonly (typeof failureKinds)[number][]
  /** Null while another process sends. */
  readonly waiting: Outbox['waiting'] | null
  /** Why nothing was delivered lately; null if the last attempt succeeded. */
  readonly failure: SenderFailure | null
}

export interface SenderFailure {
  /** Ms since the epoch. */
  readonly since: number
  readonly message: string
  readonly isPermanent: boolean
}

interface SenderParts {
  readonly folder: string
  readonly config: LogExportConfig
  readonly open: (config: LogExportConfig) => Destination
  readonly report: (report: SenderReport) => void
  readonly clock: Clock
  /** Ms between two looks at the spool. */
  readonly interval?: number
  readonly random?: () => number
}

/** Ms before the first retry, and at most; a permanent failure waits the longest at once. */
const firstRetry = 1000
const maxRetry = 60_000
const maxRetryAfter = 3_600_000
/** Ms that entries wait for others while nothing can be delivered: fewer, larger files. */
const failingDelay = 300_000

export class Sender {
  readonly #parts: SenderParts
  readonly #lock: SpoolLock
  readonly #end = new AbortController()
  #config: LogExportConfig
  #destination: Destination
  /** Null while another process sends. */
  #outbox: Outbox | null = null
  #delivering: Promise<void> | null = null
  #failure: SenderFailure | null = null
  #attempts = 0
  /** In monotonic ms. */
  #nextAttempt = 0
  #sent = 0
  #dropped = 0
  #damaged = 0
  #failures: SenderReport['failures'][number][] = []

  constructor(parts: SenderParts) {
    this.#parts = parts
    this.#config = parts.config
    this.#destination = parts.open(parts.config)
    this.#lock = new SpoolLock(join(parts.folder, 'lock'))
  }

  reload(config: LogExportConfig): void {
    this.#config = config
    this.#destination.close()
    this.#destination = this.#parts.open(config)
    this.#attempts = 0
    this.#nextAttempt = 0
  }

  /** Runs until it is closed. */
  async run(): Promise<void> {
    const { interval = 1000 } = this.#parts
    const { signal } = this.#end
    while (!signal.aborted) {
      this.#tend()
      const pause = Math.min(interval, this.#config.delay)
      await wait(pause, undefined, { signal }).catch(() => {})
    }
    this.#destination.close()
    await this.#delivering
    this.#lock.release()
  }

  close(): void {
    this.#end.abort()
  }

  #tend(): void {
    const { clock, folder } = this.#parts
    try {
      this.#outbox ??= this.#takeOver(folder)
      if (this.#outbox !== null) {
        this.#dropped += this.#outbox.scan(this.#config)
        const delay = this.#failure === null ? this.#config.delay : failingDelay
        this.#damaged += this.#outbox.form(clock.now(), delay, this.#config)
        this.#destination.tick(clock.now())
        if (!this.#outbox.hasBatches) this.#failure = null
        else if (clock.monotonic() >= this.#nextAttempt) this.#delivering ??= this.#deliver(this.#outbox)
      }
    } catch (failure) {
      const { message } = failure as Error
      this.#fail({ kind: 'disk', message, isPermanent: false, retryAfter: 0 })
    }
    this.#tell()
  }

  #takeOver(folder: string): Outbox | null {
    makeFolderSync(folder, 0o700)
    if (!this.#lock.take()) return null
    const outbox = new Outbox(folder)
    outbox.open(this.#parts.clock.now())
    return outbox
  }

  async #deliver(outbox: Outbox): Promise<void> {
    try {
      for (let batch = outbox.next(); batch !== null && !this.#end.signal.aborted; batch = outbox.next()) {
        const destination = this.#destination
        const failure = await destination.deliver(batch)
        // What fails at the one before a reload is tried at the new one at once.
        if (failure !== null) return destination === this.#destination ? this.#fail(failure) : undefined
        outbox.confirm(batch)
        this.#sent += batch.entries
        this.#failure = null
        this.#attempts = 0
        this.#tell()
      }
    } catch (failure) {
      const { message } = failure as Error
      this.#fail({ kind: 'disk', message, isPermanent: false, retryAfter: 0 })
    } finally {
      this.#delivering = null
    }
  }

  #fail({ kind, message, isPermanent, retryAfter }: DeliveryFailure): void {
    if (this.#end.signal.aborted) return
    const { clock, random = Math.random } = this.#parts
    this.#failures.push(kind)
    this.#failure = { since: this.#failure?.since ?? clock.now(), message, isPermanent }
    const backoff = isPermanent ? maxRetry : Math.min(maxRetry, firstRetry * 2 ** this.#attempts++)
    // Between half and all of it, so that machines do not come back together.
    const pause = Math.max(backoff * (0.5 + random() / 2), Math.min(retryAfter, maxRetryAfter))
    this.#nextAttempt = clock.monotonic() + pause
  }

  #tell(): void {
    const [sent, dropped, damaged, failures] = [this.#sent, this.#dropped, this.#damaged, this.#failures]
    this.#sent = this.#dropped = this.#damaged = 0
    this.#failures = []
    const waiting = this.#outbox?.waiting ?? null
    this.#parts.report({ sent, dropped, damaged, failures, waiting, failure: this.#failure })
  }
}
