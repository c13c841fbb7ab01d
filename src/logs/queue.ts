// From the edge to the log in the store: in batches, and never on the way of a request. The edge adds what it saw.
// While the store is away entries wait for it; beyond the bounds the oldest are dropped and counted.

import { setImmediate, setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '../base/log.ts'
import type { AiMetrics } from '../base/metrics.ts'
import { batchOf } from '../store/log-batch-writer.ts'
import type { Gateway } from '../store/records.ts'
import { type Store, StoreAway } from '../store/store.ts'
import { Backlog, type Bounds, type Waiting } from './backlog.ts'
import { type Meter, toEntry } from './entry.ts'
import type { Observation } from './observation.ts'

export interface LogQueueOptions {
  readonly store: Store
  readonly meter: Meter
  readonly metrics: AiMetrics
  readonly log: Logger
  readonly bounds?: Bounds
  /** Ms that closing waits for the store. */
  readonly lastWait?: number
}

const usualBounds: Bounds = { mostEntries: 10_000, mostBytes: 64 * 1024 * 1024 }

/** Entries of one write, and ms that the first of them waits for others. */
const BATCH = 256
const PATIENCE = 250
/** Entries that are made in one go, before requests get their turn. */
const SLICE = 32
/** Ms between two attempts while the store is away, and in the end. */
const RETRY = 1000
const LAST_RETRY = 100
/** What an entry weighs beside its bodies, about. */
const BASE_WEIGHT = 1024

export class LogQueue {
  readonly #store: Store
  readonly #meter: Meter
  readonly #counts: AiMetrics['logEntries']
  readonly #log: Logger
  #backlog: Backlog
  readonly #lastWait: number
  #timer: NodeJS.Timeout | null = null
  /** The write that is under way. */
  #writing: Promise<void> | null = null
  /** Whether the last write failed: the log is told of an outage once. */
  #isFailing = false
  #isClosed = false

  constructor(options: LogQueueOptions) {
    const { store, meter, metrics, log, bounds = usualBounds, lastWait = 5000 } = options
    this.#store = store
    this.#meter = meter
    this.#counts = metrics.logEntries
    this.#log = log
    this.#backlog = new Backlog(bounds)
    this.#lastWait = lastWait
  }

  /** Takes what was seen of a call that is over. */
  add(observation: Observation): void {
    if (this.#isClosed) return this.#counts.dropped.inc()
    const { gateway, request, response } = observation
    const weight = BASE_WEIGHT + (request?.weight ?? 0) + (response?.weight ?? 0)
    this.#counts.dropped.value += this.#backlog.push({ gateway, weight, observation, entry: null })
    if (this.#writing !== null) return
    if (this.#backlog.length >= BATCH && !this.#isFailing) this.#writing = this.#write()
    else this.#writeLater()
  }

  /** Writes what waits, as far as the store takes it in time; what comes after is lost. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearTimeout(this.#timer)
    const expiry = new AbortController()
    const deadline = wait(this.#lastWait, 'over', { signal: expiry.signal }).catch(() => {})
    while (this.#backlog.length > 0 || this.#writing !== null) {
      this.#writing ??= this.#write()
      const outcome = await Promise.race([this.#writing, deadline])
      if (outcome === 'over') break
      if (this.#isFailing) await wait(LAST_RETRY)
    }
    expiry.abort()
    this.#giveUp()
  }

  #writeLater(): void {
    if (this.#timer !== null) return
    const write = () => {
      this.#timer = null
      this.#writing ??= this.#write()
    }
    this.#timer = setTimeout(write, this.#isFailing ? RETRY : PATIENCE).unref()
  }

  async #write(): Promise<void> {
    await setImmediate()
    do {
      const batch = this.#backlog.take(BATCH)
      await this.#makeEntries(batch)
      if (!(await this.#append(batch))) break
    } while (this.#backlog.length >= (this.#isClosed ? 1 : BATCH))
    this.#writing = null
    if (this.#backlog.length > 0 && !this.#isClosed) this.#writeLater()
  }

  async #makeEntries(batch: readonly Waiting[]): Promise<void> {
    for (const [i, item] of batch.entries()) {
      if (i % SLICE === SLICE - 1) await setImmediate()
      if (item.observation === null) continue
      try {
        const entry = toEntry(item.observation, this.#meter)
        item.entry = entry instanceof Promise ? await entry : entry
      } catch (bug) {
        this.#counts.dropped.inc()
        this.#log.error({ err: bug, ray: item.observation.ray }, 'a log entry could not be made')
      }
      item.observation = null
    }
  }

  /** Appends to one gateway after the other; false when the store is away, which then gets the rest later. */
  async #append(batch: readonly Waiting[]): Promise<boolean> {
    const groups = Map.groupBy(batch, ({ gateway }) => gateway)
    for (const [gateway, items] of groups) {
      try {
        await this.#appendTo(gateway, items)
        groups.delete(gateway)
        this.#succeed()
      } catch (failure) {
        this.#fail(failure)
        if (failure instanceof StoreAway) {
          this.#counts.dropped.value += this.#backlog.putBack([...groups.values()].flat())
          return false
        }
        this.#counts.dropped.value += items.length
        groups.delete(gateway)
      }
    }
    return true
  }

  async #appendTo(gateway: Gateway, items: readonly Waiting[]): Promise<void> {
    const { account, id, logManagement: most, logManagementStrategy: strategy } = gateway
    const entries = items.flatMap(({ entry }) => entry ?? [])
    const written = await this.#store.logs.append(account, id, batchOf(entries), { most, strategy })
    this.#counts.written.value += written
    this.#counts.over_limit.value += entries.length - written
  }

  #fail(failure: unknown): void {
    if (!this.#isFailing) this.#log.warn({ err: failure }, 'log entries can not be written')
    this.#isFailing = true
  }

  #succeed(): void {
    if (this.#isFailing) this.#log.info('log entries are written again')
    this.#isFailing = false
  }

  #giveUp(): void {
    const lost = this.#backlog.length
    // Nothing fits any more: what comes back from a write that is still under way is dropped and counted as well.
    this.#backlog = new Backlog({ mostEntries: 0, mostBytes: 0 })
    this.#counts.dropped.value += lost
    if (lost > 0)
      this.#log.warn({ lost }, 'log entries were lost in the end, since the store did not take them')
  }
}
