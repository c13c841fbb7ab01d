// Sums of a gateway's calls over time, by window. A window is summed again only when its mark in the store
// has changed. Large windows are merged from smaller ones. The store keeps sums of past hours and days. A
// read takes a bounded time; the windows that it lacks are summed in the background.

import { Cells, logDimensions } from '../../store/log-sums/cells.ts'
import {
  type LogFilter,
  type LogMark,
  type LogSumQuery,
  type LogWindows,
  type MarkedWindow,
  type Store,
  StoreUnreachable,
} from '../../store/contract/store.ts'
import { arePlain } from './cell-filters.ts'
import { KnownWindows } from './known-windows.ts'

const minute = 60_000
const hour = 3_600_000

export interface LogSeriesOptions {
  /** The time limit of a read in ms. */
  readonly timeout?: number
  /** Larger windows, in entries, are merged from smaller ones. */
  readonly direct?: number
  /** The store keeps the sums of windows of at least this many entries. */
  readonly minEntries?: number
  /** Limit of the entries read for filters that sums cannot apply. */
  readonly maxScanned?: number
}

export interface Series {
  readonly windows: readonly Cells[]
  /** Start of the complete part, in ms since the epoch. */
  readonly completeSince: number
  /**
   * The number of entries read to apply the filters; null if the filters still have to be applied to the
   * cells.
   */
  readonly scanned: number | null
}

type Home = readonly [account: string, gateway: string]

/** Callers choose model names freely, so the number of groups needs a limit. */
const maxGroups = 1_000
const readAtOnce = 8

/**
 * Cache sizes in cells, about 15 MB each: requested windows, and the smaller ones that they are merged from.
 */
const maxRequestedCells = 25_000
const maxPartCells = 25_000

export class LogSeries {
  readonly #logs: Store['logs']
  readonly #timeout: number
  readonly #direct: number
  readonly #minEntries: number
  readonly #maxScanned: number
  /** By gateway, width and beginning. */
  readonly #requested = new KnownWindows(maxRequestedCells)
  readonly #parts = new KnownWindows(maxPartCells)
  readonly #summing = new Map<string, Promise<Cells>>()
  /** Background work by gateway. */
  readonly #filling = new Map<string, Promise<void>>()
  /** Writes of sums to the store. */
  readonly #keeping = new Set<Promise<void>>()
  #isClosed = false

  constructor({ logs }: Pick<Store, 'logs'>, options: LogSeriesOptions = {}) {
    this.#logs = logs
    this.#timeout = options.timeout ?? 40
    this.#direct = options.direct ?? 4_000
    this.#minEntries = options.minEntries ?? 200
    this.#maxScanned = options.maxScanned ?? 20_000
  }

  /** Returns the sums of each window. */
  read(home: Home, windows: LogWindows, filters: readonly LogFilter[]): Promise<Series> {
    return arePlain(filters) ? this.#look(home, windows) : this.#scan(home, windows, filters)
  }

  /** Stops the background work. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled([...this.#filling.values(), ...this.#summing.values()])
    await Promise.allSettled(this.#keeping)
  }

  async #look(home: Home, windows: LogWindows): Promise<Series> {
    const marks = await this.#logs.marks(...home, windows)
    const until = performance.now() + this.#timeout
    await this.#recall(home, windows, marks, this.#requested, until)
    const sums: Cells[] = []
    const missing: number[] = []
    // Newest first: those matter most to readers.
    for (let at = windows.count - 1; at >= 0; at--) {
      const cells =
        this.#fresh(home, windows, at, marks[at]!) ?? (await this.#wait(home, windows, at, marks[at]!, until))
      if (cells === null) missing.push(at)
      sums[at] = cells ?? this.#requested.last(nameOf(home, windows, at)) ?? new Cells()
    }
    this.#fill(home, windows, marks, missing)
    const completeSince = windows.since + ((missing[0] ?? -1) + 1) * windows.width
    return { windows: sums, completeSince, scanned: null }
  }

  #fresh(home: Home, windows: LogWindows, at: number, { mark, maxEntries }: LogMark): Cells | null {
    if (maxEntries === 0) return new Cells()
    const name = nameOf(home, windows, at)
    return this.#requested.at(name, mark) ?? this.#parts.at(name, mark)
  }

  /** Loads uncached sums from the store, newest first, until a deadline (monotonic ms). */
  async #recall(
    home: Home,
    windows: LogWindows,
    marks: readonly LogMark[],
    cache: KnownWindows,
    until = Infinity,
  ): Promise<void> {
    if (windows.width < hour) return
    const missing = [...marks.keys()]
      .filter(
        at =>
          marks[at]!.maxEntries >= this.#minEntries && this.#fresh(home, windows, at, marks[at]!) === null,
      )
      .reverse()
    for (let from = 0; from < missing.length && performance.now() < until; from += readAtOnce) {
      if (this.#isClosed) throw new StoreUnreachable()
      const some = missing.slice(from, from + readAtOnce)
      const marked = some.map(at => markedOf(windows, at, marks[at]!))
      const texts = await this.#logs.keptSums(...home, marked)
      for (const [i, text] of texts.entries()) {
        if (text === null) continue
        const at = some[i]!
        cache.set(nameOf(home, windows, at), { mark: marks[at]!.mark, cells: await Cells.from(text) })
      }
    }
  }

  /** Stores the sums of large past windows. */
  #keep(home: Home, windows: LogWindows, at: number, mark: LogMark, cells: Cells): void {
    const window = markedOf(windows, at, mark)
    const isOver = window.since + window.width < Date.now()
    if (window.width < hour || mark.maxEntries < this.#minEntries || !isOver) return
    // A failed write only means that the window is summed again later.
    const write: Promise<void> = this.#logs
      .keepSum(...home, window, cells.toText())
      .catch(() => {})
      .finally(() => this.#keeping.delete(write))
    this.#keeping.add(write)
  }

  /** Sums a window; returns null at the deadline while the work continues. */
  async #wait(
    home: Home,
    windows: LogWindows,
    at: number,
    mark: LogMark,
    until: number,
  ): Promise<Cells | null> {
    const left = until - performance.now()
    if (left <= 0) return null
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>(resolve => {
      timer = setTimeout(resolve, left, null)
    })
    const summed = this.#sum(home, windows, at, mark)
    // A failure after the deadline has no listener.
    summed.catch(() => {})
    const cells = await Promise.race([summed, late])
    clearTimeout(timer)
    return cells
  }

  #sum(home: Home, windows: LogWindows, at: number, mark: LogMark, cache = this.#requested): Promise<Cells> {
    const name = nameOf(home, windows, at)
    const work = `${name} ${mark.mark}`
    const running = this.#summing.get(work)
    if (running !== undefined) return running
    const summed = this.#sumUp(home, windows, at, mark)
      .then(cells => {
        cache.set(name, { mark: mark.mark, cells })
        this.#keep(home, windows, at, mark, cells)
        return cells
      })
      .finally(() => this.#summing.delete(work))
    this.#summing.set(work, summed)
    return summed
  }

  async #sumUp(
    home: Home,
    { since: first, width }: LogWindows,
    at: number,
    { maxEntries }: LogMark,
  ): Promise<Cells> {
    const since = first + at * width
    const cells = new Cells()
    if (maxEntries > this.#direct && width > minute) {
      const smaller = width > hour ? hour : minute
      const windows: LogWindows = { since, width: smaller, count: width / smaller }
      const marks = await this.#logs.marks(...home, windows)
      await this.#recall(home, windows, marks, this.#parts)
      for (const [part, mark] of marks.entries()) {
        if (this.#isClosed) throw new StoreUnreachable()
        cells.merge(
          this.#fresh(home, windows, part, mark) ?? (await this.#sum(home, windows, part, mark, this.#parts)),
        )
      }
      return cells
    }
    const { windows } = await this.#logs.sum(...home, { ...allCells, time: { since, before: since + width } })
    return windows.get(0) ?? cells
  }

  /** Sums the missing windows in the background, one at a time. */
  #fill(home: Home, windows: LogWindows, marks: readonly LogMark[], missing: readonly number[]): void {
    const name = home.join('/')
    if (missing.length === 0 || this.#isClosed || this.#filling.has(name)) return
    const fill = async () => {
      await this.#recall(home, windows, marks, this.#requested)
      for (const at of missing) {
        if (this.#isClosed) return
        if (this.#fresh(home, windows, at, marks[at]!) === null)
          await this.#sum(home, windows, at, marks[at]!)
      }
    }
    // The next read retries after a failure.
    const filled = fill()
      .catch(() => {})
      .finally(() => this.#filling.delete(name))
    this.#filling.set(name, filled)
  }

  /** Sums the newest entries that match, without the cache. */
  async #scan(
    home: Home,
    { since, width, count }: LogWindows,
    filters: readonly LogFilter[],
  ): Promise<Series> {
    const time = { since, before: since + count * width }
    const query = { ...allCells, time, filters, width, maxScanned: this.#maxScanned }
    const { windows, scanned, completeSince } = await this.#logs.sum(...home, query)
    const cells = Array.from({ length: count }, (_, at) => windows.get(since + at * width) ?? new Cells())
    return { windows: cells, completeSince, scanned }
  }
}

const allCells: Omit<LogSumQuery, 'time'> = { filters: [], by: logDimensions, width: null, maxGroups }

function markedOf({ since, width }: LogWindows, at: number, { mark }: LogMark): MarkedWindow {
  return { since: since + at * width, width, mark }
}

function nameOf([account, gateway]: Home, { since, width }: LogWindows, at: number): string {
  return `${account}/${gateway}/${width}/${since + at * width}`
}
