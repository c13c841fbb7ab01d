// Numbers of recent requests, by minute and by hour, sampled from the metrics of all processes rather than
// counted per request. They cover this gateway on this machine since it started.

import { type Clock, systemClock } from '../base/clock.ts'
import type { Snapshot } from '../metrics/metrics.ts'

/** Requests by status class, such as `5xx`. */
type ClassCounts = Readonly<Record<string, number>>

export interface RequestWindow {
  /** Ms since the epoch. */
  readonly at: number
  readonly zones: ReadonlyMap<string, ClassCounts>
}

interface RequestHistoryOptions {
  /** Reads the counts of every process. */
  readonly read: () => Promise<readonly Snapshot[]>
  readonly clock?: Clock
  /** Delay between two samples, in ms. */
  readonly period?: number
}

const minute = 60_000
const hour = 3_600_000
const defaultPeriod = 15_000

type Totals = ReadonlyMap<string, Record<string, number>>

export class RequestHistory {
  readonly #read: RequestHistoryOptions['read']
  readonly #clock: Clock
  readonly #period: number
  readonly #minutes = new Ring(minute, 60)
  readonly #hours = new Ring(hour, 24)
  #totals: Totals = new Map()
  #queuedLogs = 0
  #uncountedBudgets = 0
  #timer: NodeJS.Timeout | undefined
  #sampling: Promise<void> | null = null

  constructor({ read, clock = systemClock, period = defaultPeriod }: RequestHistoryOptions) {
    this.#read = read
    this.#clock = clock
    this.#period = period
  }

  start(): void {
    this.#timer = setInterval(() => void this.sample().catch(() => {}), this.#period).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** The number of log entries of AI calls that waited for the store at the last sample. */
  get queuedLogs(): number {
    return this.#queuedLogs
  }

  /** Accounts, once for each process, whose budgets could not be counted in the store at the last sample. */
  get uncountedBudgets(): number {
    return this.#uncountedBudgets
  }

  sample(): Promise<void> {
    this.#sampling ??= this.#count().finally(() => {
      this.#sampling = null
    })
    return this.#sampling
  }

  /** Returns the last 60 minutes, the current one last. */
  minutes(): readonly RequestWindow[] {
    return this.#minutes.windows(this.#clock.now())
  }

  /** Returns the last 24 hours, the current one last. */
  hours(): readonly RequestWindow[] {
    return this.#hours.windows(this.#clock.now())
  }

  async #count(): Promise<void> {
    const snapshots = await this.#read()
    const totals = totalsOf(snapshots)
    const now = this.#clock.now()
    for (const [zone, classes] of totals)
      for (const [name, total] of Object.entries(classes)) {
        // A process that ended between two samples may be missing from one of them.
        const more = Math.max(0, total - (this.#totals.get(zone)?.[name] ?? 0))
        if (more === 0) continue
        this.#minutes.add(now, zone, name, more)
        this.#hours.add(now, zone, name, more)
      }
    this.#totals = totals
    this.#queuedLogs = sumOf(snapshots, 'gatehouse_ai_log_queued_entries')
    this.#uncountedBudgets = sumOf(snapshots, 'gatehouse_budget_uncounted_accounts')
  }
}

/** The latest windows of one length. */
class Ring {
  readonly #width: number
  readonly #count: number
  readonly #windows = new Map<number, Map<string, Record<string, number>>>()

  constructor(width: number, count: number) {
    this.#width = width
    this.#count = count
  }

  add(now: number, zone: string, name: string, more: number): void {
    const at = this.#start(now)
    const zones = this.#windows.get(at) ?? this.#begin(at)
    const classes = zones.get(zone) ?? {}
    classes[name] = (classes[name] ?? 0) + more
    zones.set(zone, classes)
  }

  windows(now: number): readonly RequestWindow[] {
    const last = this.#start(now)
    return Array.from({ length: this.#count }, (_, i) => {
      const at = last - (this.#count - 1 - i) * this.#width
      return { at, zones: this.#windows.get(at) ?? new Map() }
    })
  }

  #start(now: number): number {
    return Math.floor(now / this.#width) * this.#width
  }

  #begin(at: number): Map<string, Record<string, number>> {
    const zones = new Map<string, Record<string, number>>()
    this.#windows.set(at, zones)
    for (const old of this.#windows.keys())
      if (old <= at - this.#count * this.#width) this.#windows.delete(old)
    return zones
  }
}

function totalsOf(snapshots: readonly Snapshot[]): Totals {
  const totals = new Map<string, Record<string, number>>()
  for (const { labels, value } of valuesOf(snapshots, 'gatehouse_requests_total')) {
    const { zone = '', status_class = '' } = labels as {
      readonly zone?: string
      readonly status_class?: string
    }
    const classes = totals.get(zone) ?? {}
    classes[status_class] = (classes[status_class] ?? 0) + value
    totals.set(zone, classes)
  }
  return totals
}

function sumOf(snapshots: readonly Snapshot[], name: string): number {
  return valuesOf(snapshots, name).reduce((sum, { value }) => sum + value, 0)
}

function valuesOf(snapshots: readonly Snapshot[], name: string) {
  return snapshots
    .flatMap(metrics => metrics.filter(metric => metric.name === name))
    .flatMap(({ values }) => values)
}
