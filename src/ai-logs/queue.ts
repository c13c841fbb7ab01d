// Carries log entries from the edge to the store in batches, never on the request path. While the store is
// unreachable, batches are queued; beyond the bounds the oldest are dropped, counted, and logged once the
// rest is written.

import { setImmediate, setTimeout as wait } from 'node:timers/promises'
import type { AiMetrics } from '../metrics/counters/ai-metrics.ts'
import type { Logger } from '../log/log.ts'
import type { Gateway } from '../store/records/records.ts'
import type { SpoolWriter } from '../log-export/spool-writer.ts'
import { type Store, StoreUnreachable } from '../store/contract/store.ts'
import { Backlog, type Bounds, type Waiting } from './backlog.ts'
import { Batch } from './batch.ts'
import { decodedExcerptOf, type Excerpts, excerptOf, type Meter, settle, writeEntry } from './entry.ts'
import type { Observation } from './observation.ts'

export interface LogQueueOptions {
  readonly store: Store
  readonly meter: Meter
  readonly metrics: AiMetrics
  readonly log: Logger
  /** Takes every batch, whatever becomes of it in the store. */
  readonly spool?: Pick<SpoolWriter, 'take'>
  /** The bounds of batches that wait for the store. */
  readonly bounds?: Bounds
  readonly batchSize?: number
  /** Ms that `close` waits for the store. */
  readonly lastWait?: number
}

/** The number of dropped entries, and the times of the first and last one in ms since the epoch. */
interface Loss {
  readonly count: number
  readonly earliest: number
  readonly latest: number
}

interface Encoded extends Waiting {
  readonly observation: Observation
}

const usualBounds: Bounds = { maxEntries: 50_000, maxBytes: 64 * 1024 * 1024 }
/** The bounds of calls whose response still has to be decoded. */
const encodedBounds: Bounds = { maxEntries: 1000, maxBytes: 32 * 1024 * 1024 }
/** Approximate memory of a call without its bodies. */
const baseWeight = 1024

/**
 * Entries and bytes of a full batch, bytes of all batches together, and ms that an entry waits for others.
 */
const batchEntries = 512
const batchBytes = 1024 * 1024
const maxOpenBytes = 16 * batchBytes
const batchDelay = 250
/** Ms between two attempts while the store is unreachable, and while closing. */
const retry = 1000
const lastRetry = 100

export class LogQueue {
  readonly #store: Store
  readonly #meter: Meter
  readonly #counts: AiMetrics['logEntries']
  readonly #log: Logger
  readonly #spool: LogQueueOptions['spool']
  readonly #batchSize: number
  readonly #lastWait: number
  readonly #encoded = new Backlog<Encoded>(encodedBounds)
  /** Decoding, one response at a time. */
  #decoding: Promise<void> | null = null
  readonly #open = new Map<Gateway, Batch>()
  /** Bytes in batches that are being filled. */
  #openSize = 0
  readonly #backlog: Backlog<Batch>
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> | null = null
  /** An outage is logged once. */
  #isFailing = false
  /** Losses since the last log line about them. */
  #loss: Loss | null = null
  #isClosed = false
  #isOver = false

  constructor(options: LogQueueOptions) {
    const { store, meter, metrics, log } = options
    this.#store = store
    this.#meter = meter
    this.#counts = metrics.logEntries
    this.#log = log
    this.#spool = options.spool
    this.#backlog = new Backlog(options.bounds ?? usualBounds)
    this.#batchSize = options.batchSize ?? batchEntries
    this.#lastWait = options.lastWait ?? 5000
    metrics.queuedEntries = () => this.#queued
  }

  get #queued(): number {
    let open = 0
    for (const { count } of this.#open.values()) open += count
    return this.#encoded.count + open + this.#backlog.count
  }

  /** Adds a finished call, and retains none of it unless its response has to be decoded first. */
  add(observation: Observation): void {
    const { request, response } = observation
    if (this.#isClosed) this.#lose(observation)
    else if (request?.isEncoded || response?.isEncoded) this.#decodeLater(observation)
    else this.#enter(observation, { request: excerptOf(request), answer: excerptOf(response) })
  }

  /** Writes the queue as far as the store accepts it in time; later entries are lost. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearTimeout(this.#timer)
    const expiry = new AbortController()
    const deadline = wait(this.#lastWait, 'over', { signal: expiry.signal }).catch(() => {})
    await Promise.race([this.#decoding, deadline])
    this.#endAll()
    while (this.#backlog.count > 0 || this.#writing !== null) {
      this.#writing ??= this.#write()
      const outcome = await Promise.race([this.#writing, deadline])
      if (outcome === 'over') break
      if (this.#isFailing) await wait(lastRetry)
    }
    expiry.abort()
    this.#giveUp()
  }

  #decodeLater(observation: Observation): void {
    const { request, response } = observation
    const weight = baseWeight + (request?.weight ?? 0) + (response?.weight ?? 0)
    const { startedAt: at } = observation
    const dropped = this.#encoded.push({ count: 1, weight, earliest: at, latest: at, observation })
    for (const { observation } of dropped) observation.budget?.settleWhole()
    this.#loseAll(dropped)
    this.#decoding ??= this.#decode()
  }

  async #decode(): Promise<void> {
    for (let next = this.#encoded.take(); next !== undefined; next = this.#encoded.take()) {
      const { request, requestEncoding, response, responseEncoding } = next.observation
      this.#enter(next.observation, {
        request: await decodedExcerptOf(request, requestEncoding),
        answer: await decodedExcerptOf(response, responseEncoding),
      })
    }
    this.#decoding = null
  }

  #enter(observation: Observation, excerpts: Excerpts): void {
    if (!observation.isStored) return this.#measure(observation, excerpts)
    if (this.#isOver) return this.#lose(observation)
    const { gateway } = observation
    let batch = this.#open.get(gateway)
    if (batch === undefined) this.#open.set(gateway, (batch = new Batch(gateway)))
    const before = batch.size
    try {
      writeEntry(observation, excerpts, this.#meter, batch)
    } catch (bug) {
      this.#lose(observation)
      this.#log.error({ err: bug, ray: observation.ray }, 'building an AI log entry failed: internal error')
    }
    this.#openSize += batch.size - before
    if (batch.count >= this.#batchSize || batch.size >= batchBytes) this.#end(batch)
    else if (this.#openSize >= maxOpenBytes) this.#endAll()
    this.#attend()
  }

  /** Of a call without an entry, only what it used matters. */
  #measure(observation: Observation, excerpts: Excerpts): void {
    try {
      settle(observation, excerpts, this.#meter)
    } catch (bug) {
      observation.budget?.settleWhole()
      this.#log.error({ err: bug, ray: observation.ray }, 'measuring an AI call failed: internal error')
    }
  }

  /** Drops the entry of a call, which is charged whole. */
  #lose({ budget, isStored }: Observation): void {
    budget?.settleWhole()
    if (isStored) this.#drop(1)
  }

  #end(batch: Batch): void {
    this.#open.delete(batch.gateway)
    this.#openSize -= batch.size
    const { account, id } = batch.gateway
    this.#spool?.take(account, id, batch.batch())
    this.#loseAll(this.#backlog.push(batch))
  }

  #endAll(): void {
    for (const batch of this.#open.values()) if (batch.count > 0) this.#end(batch)
  }

  /** Schedules the next write: at once for full batches, unless the store is unreachable. */
  #attend(): void {
    if (this.#writing !== null || this.#isClosed) return
    if (this.#backlog.count > 0 && !this.#isFailing) this.#writing = this.#write()
    else if (this.#timer === null) {
      const delay = this.#isFailing ? retry : batchDelay
      this.#timer = setTimeout(() => this.#lapse(), delay).unref()
    }
  }

  #lapse(): void {
    this.#timer = null
    // Open batches can fill up while others wait for the store.
    if (this.#backlog.count === 0) this.#endAll()
    this.#writing ??= this.#write()
  }

  async #write(): Promise<void> {
    await setImmediate()
    for (let batch = this.#backlog.take(); batch !== undefined; batch = this.#backlog.take()) {
      if (!(await this.#append(batch))) break
    }
    this.#writing = null
    if (this.#backlog.count === 0 && !this.#isFailing) this.#tellLoss()
    if (this.#backlog.count > 0 || this.#open.size > 0) this.#attend()
  }

  /** Appends a batch; returns false if the store is unreachable and the batch will be retried. */
  async #append(batch: Batch): Promise<boolean> {
    const {
      account,
      id,
      logManagement: maxEntries,
      logManagementStrategy: strategy,
      createdAt,
    } = batch.gateway
    const limit = { maxEntries, strategy, madeAt: createdAt }
    try {
      const written = await this.#store.logs.append(account, id, batch.batch(batch.isRepeated), limit)
      this.#counts.written.value += written
      this.#counts.over_limit.value += batch.count - written
      this.#succeed()
      return true
    } catch (failure) {
      this.#fail(failure)
      if (!(failure instanceof StoreUnreachable)) this.#drop(batch.count)
      else this.#putBack(batch)
      return !(failure instanceof StoreUnreachable)
    }
  }

  #putBack(batch: Batch): void {
    batch.isRepeated = true
    if (this.#isOver) this.#drop(batch.count)
    else this.#loseAll(this.#backlog.putBack(batch))
  }

  #loseAll(losses: readonly Loss[]): void {
    for (const { count, earliest, latest } of losses) {
      this.#drop(count)
      const before = this.#loss ?? { count: 0, earliest, latest }
      this.#loss = {
        count: before.count + count,
        earliest: Math.min(before.earliest, earliest),
        latest: Math.max(before.latest, latest),
      }
    }
  }

  #tellLoss(): void {
    if (this.#loss === null) return
    const { count: lost, earliest, latest } = this.#loss
    const fields = { lost, from: new Date(earliest).toISOString(), to: new Date(latest).toISOString() }
    this.#log.warn(fields, 'AI log entries lost: more came than could be written')
    this.#loss = null
  }

  #drop(count: number): void {
    this.#counts.dropped.value += count
  }

  #fail(failure: unknown): void {
    if (!this.#isFailing) this.#log.warn({ err: failure }, 'writing AI log entries failed')
    this.#isFailing = true
  }

  #succeed(): void {
    if (this.#isFailing) this.#log.info('AI log entries written again')
    this.#isFailing = false
  }

  #giveUp(): void {
    this.#isOver = true
    this.#tellLoss()
    const lost = this.#backlog.clear() + this.#encoded.clear()
    this.#drop(lost)
    if (lost > 0) this.#log.warn({ lost }, 'AI log entries lost at shutdown: the store did not accept them')
  }
}
