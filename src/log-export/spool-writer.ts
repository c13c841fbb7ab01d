// Flushes what is exported to files of the spool, never on the path of a call. While the disk takes nothing,
// it waits in memory; beyond a bound, the oldest is dropped and counted.

import { randomBytes } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import { makeFolder } from '../base/system/folders.ts'
import type { LogExportConfig } from '../config/model/log-export-config.ts'
import type { Logger } from '../log/log.ts'
import type { AiMetrics } from '../metrics/counters/ai-metrics.ts'
import type { LogBatch } from '../store/log-batch/batch.ts'
import { encodeCalls, encodeLine } from './spool-file.ts'
import { settling, spoolName } from './spool-name.ts'

interface SpoolWriterParts {
  readonly folder: string
  readonly config: LogExportConfig | null
  readonly metrics: AiMetrics
  readonly log: Logger
  readonly clock?: Clock
  /** Bytes that wait in memory. */
  readonly maxBytes?: number
  /** Ms between two attempts while the disk takes nothing. */
  readonly retry?: number
  /** Ms that `close` waits for the disk. */
  readonly lastWait?: number
}

interface Parcel {
  /** Ms since the epoch. */
  readonly due: number
  readonly entries: number
  readonly weight: number
  readonly encode: () => readonly Buffer[]
}

/** Bytes of a file, unless one parcel has more. */
const fileSize = 1024 * 1024

export class SpoolWriter {
  readonly #parts: SpoolWriterParts
  readonly #clock: Clock
  readonly #writer = randomBytes(8).toString('hex')
  #config: LogExportConfig | null
  #sequence = 0
  /** No file sorts before an earlier one, even if the clock is set back. */
  #lastDue = 0
  /** Oldest first. */
  readonly #waiting: Parcel[] = []
  /** How many of them are being written. */
  #inFlight = 0
  #weight = 0
  #writing: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #isFailing = false
  #hasFolder = false
  #isClosed = false

  constructor(parts: SpoolWriterParts) {
    this.#parts = parts
    this.#config = parts.config
    this.#clock = parts.clock ?? systemClock
    parts.metrics.unspooledEntries = () => this.unspooled
  }

  /** Entries that wait in memory; null if the export is off. */
  get unspooled(): number | null {
    return this.#config === null ? null : this.#waiting.reduce((sum, { entries }) => sum + entries, 0)
  }

  reload(config: LogExportConfig | null): void {
    this.#config = config
  }

  /** Takes entries of a gateway; does nothing if the export is off. The batch must not change afterwards. */
  take(account: string, gateway: string, batch: LogBatch): void {
    if (this.#config === null) return
    const { payloads } = this.#config
    let weight = payloads ? batch.bodies.length : 0
    for (const row of batch.rows) weight += row.length
    const encode = () => encodeCalls(account, gateway, batch, payloads)
    this.#add({ due: this.#now(), entries: batch.ids.length, weight, encode })
  }

  /**
   * Takes one line, to be exported behind everything that any process of this machine flushes until then.
   * Resolves when it is on the disk, or has to wait for it.
   */
  async tell(line: string): Promise<void> {
    if (this.#config === null) return
    const due = this.#now() + settling
    this.#add({ due, entries: 1, weight: line.length, encode: () => encodeLine(line) })
    await this.#writing
  }

  /** Writes what waits, as far as the disk takes it in time; the rest is lost. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearTimeout(this.#timer)
    this.#begin()
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, this.#parts.lastWait ?? 2000)
    await Promise.race([this.#writing, late])
    clearTimeout(timer)
    const lost = this.#waiting.splice(0).reduce((sum, { entries }) => sum + entries, 0)
    if (lost === 0) return
    this.#drop(lost)
    this.#parts.log.warn({ lost }, 'AI log entries not exported: the spool could not be written')
  }

  #now(): number {
    return (this.#lastDue = Math.max(this.#lastDue, this.#clock.now()))
  }

  #add(parcel: Parcel): void {
    if (this.#isClosed) return this.#drop(parcel.entries)
    this.#waiting.push(parcel)
    this.#weight += parcel.weight
    const { maxBytes = 32 * 1024 * 1024 } = this.#parts
    while (this.#weight > maxBytes && this.#waiting.length > this.#inFlight + 1)
      for (const { entries } of this.#remove(this.#inFlight, 1)) this.#drop(entries)
    if (this.#timer === null) this.#begin()
  }

  #begin(): void {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null
    })
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const parcels = this.#nextFile()
      this.#inFlight = parcels.length
      const wasWritten = await this.#write(parcels)
      this.#inFlight = 0
      if (wasWritten) this.#remove(0, parcels.length)
      else return this.#retryLater()
    }
  }

  #retryLater(): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#begin()
    }, this.#parts.retry ?? 1000).unref()
  }

  /** Returns the first parcels, as many as are due together and fit. */
  #nextFile(): Parcel[] {
    const first = this.#waiting[0]!
    let weight = 0
    const end = this.#waiting.findIndex(parcel => {
      weight += parcel.weight
      return parcel !== first && (weight > fileSize || Math.abs(parcel.due - first.due) >= settling)
    })
    return this.#waiting.slice(0, end === -1 ? undefined : end)
  }

  async #write(parcels: readonly Parcel[]): Promise<boolean> {
    const { folder } = this.#parts
    const content = Buffer.concat(parcels.flatMap(({ encode }) => encode()))
    const entries = parcels.reduce((sum, parcel) => sum + parcel.entries, 0)
    const place = { due: parcels[0]!.due, writer: this.#writer, sequence: this.#sequence }
    const file = join(folder, spoolName(place, entries, content.length))
    try {
      if (!this.#hasFolder) await makeFolder(folder, 0o700)
      this.#hasFolder = true
      // Not synced: that is done once for many, when the sender makes a batch of them.
      await writeFile(`${file}.tmp`, content, { mode: 0o600 })
      await rename(`${file}.tmp`, file)
      this.#sequence++
      this.#succeed()
      return true
    } catch (failure) {
      this.#hasFolder = false
      await rm(`${file}.tmp`, { force: true }).catch(() => {})
      this.#fail(failure)
      return false
    }
  }

  #remove(start: number, count: number): readonly Parcel[] {
    const removed = this.#waiting.splice(start, count)
    for (const { weight } of removed) this.#weight -= weight
    return removed
  }

  #drop(entries: number): void {
    this.#parts.metrics.exportedEntries.dropped.value += entries
  }

  #fail(failure: unknown): void {
    if (!this.#isFailing)
      this.#parts.log.warn({ err: failure }, 'writing AI log entries for the export failed')
    this.#isFailing = true
  }

  #succeed(): void {
    if (this.#isFailing) this.#parts.log.info('AI log entries for the export written again')
    this.#isFailing = false
  }
}
