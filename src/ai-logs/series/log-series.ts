// Sums of the calls of a gateway over time. Each window of time is summed once, and again only when its entries have changed, which marks of the store tell. A
// window of many entries is made of smaller ones, so that a change costs little. Sums of hours and days that are over are kept in the store, for when they are not
// remembered. A reader waits for a bounded time, and is told what is missing; the rest is summed in the background, for the next one.

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
  /** Ms that a reader waits. */
  readonly patience?: number
  /** How many entries of a window are summed at once; one that has more is made of smaller ones. */
  readonly direct?: number
  /** How many entries a window has whose sums are kept in the store. */
  readonly leastKept?: number
  /** How many entries are looked at, where filters need that, for one reader. */
  readonly maxScanned?: number
}

export interface Series {
  /** One for each window. */
  readonly windows: readonly Cells[]
  /** Ms since the epoch from which on nothing is missing. */
  readonly completeSince: number
  /** How many entries were looked at for the filters; null where the filters have still to choose among the cells. */
  readonly scanned: number | null
}

/** A gateway, by account and id. */
type Home = readonly [account: string, gateway: string]

/** Callers choose model names freely, so that there may be any number of groups. */
const maxGroups = 1_000
/** How many sums are read from the store at once. */
const readAtOnce = 8

/** How many cells of all gateways are remembered, some 15 MB each: of windows that were asked for, and of the smaller ones that others are made of. */
const mostAsked = 25_000
const mostParts = 25_000

export class LogSeries {
  readonly #logs: Store['logs']
  readonly #patience: number
  readonly #direct: number
  readonly #leastKept: number
  readonly #maxScanned: number
  /** By gateway, width and beginning. */
  readonly #asked = new KnownWindows(mostAsked)
  readonly #parts = new KnownWindows(mostParts)
  /** Windows that are being summed. */
  readonly #summing = new Map<string, Promise<Cells>>()
  /** Gateways whose windows are summed in the background. */
  readonly #filling = new Map<string, Promise<void>>()
  /** Sums that are being written to the store. */
  readonly #keeping = new Set<Promise<void>>()
  #isClosed = false

  constructor({ logs }: Pick<Store, 'logs'>, options: LogSeriesOptions = {}) {
    this.#logs = logs
    this.#patience = options.patience ?? 40
    this.#direct = options.direct ?? 4_000
    this.#leastKept = options.leastKept ?? 200
    this.#maxScanned = options.maxScanned ?? 20_000
  }

  /** Sums up what the filters match, window by window. */
  read(home: Home, windows: LogWindows, filters: readonly LogFilter[]): Promise<Series> {
    return arePlain(filters) ? this.#look(home, windows) : this.#scan(home, windows, filters)
  }

  /** Stops what goes on in the background. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled([...this.#filling.values(), ...this.#summing.values()])
    await Promise.allSettled(this.#keeping)
  }

  async #look(home: Home, windows: LogWindows): Promise<Series> {
    const marks = await this.#logs.marks(...home, windows)
    const until = performance.now() + this.#patience
    await this.#recall(home, windows, marks, this.#asked, until)
    const found: Cells[] = []
    const missing: number[] = []
    // The newest first: they are what people look for.
    for (let at = windows.count - 1; at >= 0; at--) {
      const cells =
        this.#fresh(home, windows, at, marks[at]!) ?? (await this.#wait(home, windows, at, marks[at]!, until))
      if (cells === null) missing.push(at)
      found[at] = cells ?? this.#asked.last(nameOf(home, windows, at)) ?? new Cells()
    }
    this.#fill(home, windows, marks, missing)
    const completeSince = windows.since + ((missing[0] ?? -1) + 1) * windows.width
    return { windows: found, completeSince, scanned: null }
  }

  /** Returns the sums of a window where they are known and still true. */
  #fresh(home: Home, windows: LogWindows, at: number, { mark, most }: LogMark): Cells | null {
    if (most === 0) return new Cells()
    const name = nameOf(home, windows, at)
    return this.#asked.at(name, mark) ?? this.#parts.at(name, mark)
  }

  /** Reads what the store has of windows that are not remembered, the newest first, until a time (monotonic ms). */
  async #recall(
    home: Home,
    windows: LogWindows,
    marks: readonly LogMark[],
    known: KnownWindows,
    until = Infinity,
  ): Promise<void> {
    if (windows.width < hour) return
    const missing = [...marks.keys()]
      .filter(at => marks[at]!.most >= this.#leastKept && this.#fresh(home, windows, at, marks[at]!) === null)
      .reverse()
    for (let from = 0; from < missing.length && performance.now() < until; from += readAtOnce) {
      if (this.#isClosed) throw new StoreUnreachable()
      const some = missing.slice(from, from + readAtOnce)
      const marked = some.map(at => markedOf(windows, at, marks[at]!))
      const texts = await this.#logs.keptSums(...home, marked)
      for (const [i, text] of texts.entries()) {
        if (text === null) continue
        const at = some[i]!
        known.set(nameOf(home, windows, at), { mark: marks[at]!.mark, cells: await Cells.from(text) })
      }
    }
  }

  /** Stores the sums of windows that are over and have many entries. */
  #keep(home: Home, windows: LogWindows, at: number, mark: LogMark, cells: Cells): void {
    const window = markedOf(windows, at, mark)
    const isOver = window.since + window.width < Date.now()
    if (window.width < hour || mark.most < this.#leastKept || !isOver) return
    // What is not kept now is summed up again some time.
    const kept: Promise<void> = this.#logs
      .keepSum(...home, window, cells.toText())
      .catch(() => {})
      .finally(() => this.#keeping.delete(kept))
    this.#keeping.add(kept)
  }

  /** Sums up a window; null when that takes too long, and goes on. */
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
    // A reader who has left does not hear of a failure.
    summed.catch(() => {})
    const cells = await Promise.race([summed, late])
    clearTimeout(timer)
    return cells
  }

  #sum(home: Home, windows: LogWindows, at: number, mark: LogMark, known = this.#asked): Promise<Cells> {
    const name = nameOf(home, windows, at)
    const work = `${name} ${mark.mark}`
    const running = this.#summing.get(work)
    if (running !== undefined) return running
    const summed = this.#sumUp(home, windows, at, mark)
      .then(cells => {
        known.set(name, { mark: mark.mark, cells })
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
    { most }: LogMark,
  ): Promise<Cells> {
    const since = first + at * width
    const cells = new Cells()
    if (most > this.#direct && width > minute) {
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

  /** Sums up what is missing in the background, one window after the other, unless that goes on already. */
  #fill(home: Home, windows: LogWindows, marks: readonly LogMark[], missing: readonly number[]): void {
    const name = home.join('/')
    if (missing.length === 0 || this.#isClosed || this.#filling.has(name)) return
    const fill = async () => {
      await this.#recall(home, windows, marks, this.#asked)
      for (const at of missing) {
        if (this.#isClosed) return
        if (this.#fresh(home, windows, at, marks[at]!) === null)
          await this.#sum(home, windows, at, marks[at]!)
      }
    }
    // What the store does not give now is asked for by the next reader.
    const filled = fill()
      .catch(() => {})
      .finally(() => this.#filling.delete(name))
    this.#filling.set(name, filled)
  }

  /** Looks at the newest entries themselves. */
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
