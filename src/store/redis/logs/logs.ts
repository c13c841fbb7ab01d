// Log entries in Redis. Payloads are apart, so that lists do not read them; filters, and orders other than by
// time, are evaluated here, a page of summaries at a time.

import { nextTurn } from '../../../base/turns/turns.ts'
import { entriesOf, type LogBatch } from '../../log-batch/batch.ts'
import { WindowSums } from '../../log-sums/cells.ts'
import { edited } from '../../contract/log-edit.ts'
import { matches, placeOf, timeOf } from '../../contract/log-match.ts'
import { LogSelection } from '../../contract/log-selection.ts'
import type { Gateway, LogEntry, LogSummary } from '../../records/records.ts'
import type {
  Listing,
  LogEdit,
  LogLimit,
  LogMark,
  LogQuery,
  Logs,
  LogScan,
  LogScanQuery,
  LogSumQuery,
  LogSums,
  LogTail,
  LogTime,
  LogWindows,
  MarkedWindow,
} from '../../contract/store.ts'
import type { Argument } from '../server/connect.ts'
import type { Connection } from '../server/connection.ts'
import { keys, logKeys } from '../server/keys.ts'
import { parse } from '../records.ts'
import {
  appendEntries,
  editEntry,
  keepSum,
  listEntries,
  markWindows,
  removeEntries,
  tailEntries,
  wholeEntries,
} from './log-scripts.ts'

/** How much goes to Redis in one command, in characters, so that none holds up the others for long. */
const largestAppend = 1024 * 1024
const pageSize = 200
const removalSize = 1_000
const marksAtOnce = 100

type Keys = readonly string[]
type Cursor = Pick<LogSummary, 'id' | 'createdAt'>

export class RedisLogs implements Logs {
  readonly #records: Connection
  readonly #logs: Connection

  constructor(records: Connection, logs: Connection) {
    this.#records = records
    this.#logs = logs
  }

  async append(account: string, gateway: string, batch: LogBatch, limit: LogLimit): Promise<number> {
    const { maxEntries, strategy, madeAt } = limit
    const home = await this.#find(account, gateway, madeAt)
    if (!home) return 0
    let count = 0
    for (const part of partsOf(entriesOf(batch, account, gateway)))
      count += Number(await this.#logs.script(appendEntries, home, [strategy, maxEntries, ...part]))
    return count
  }

  async list(account: string, gateway: string, query: LogQuery): Promise<Listing<LogSummary>> {
    const home = await this.#find(account, gateway)
    return home ? this.#list(home, query) : { items: [], total: 0 }
  }

  async get(account: string, gateway: string, id: string): Promise<LogEntry | null> {
    const home = await this.#find(account, gateway)
    if (!home) return null
    const [, , summaries, payloads] = home
    const replies = await this.#logs.runAll([
      ['HGET', summaries!, id],
      ['HGET', payloads!, id],
    ])
    const [summary, bodies] = replies as [string | null, string | null]
    return summary === null ? null : entryOf(summary, bodies ?? '')
  }

  async edit(account: string, gateway: string, id: string, edit: LogEdit): Promise<LogSummary | null> {
    const home = await this.#find(account, gateway)
    while (home) {
      const before = (await this.#logs.run(['HGET', home[2]!, id])) as string | null
      if (before === null) return null
      const summary = edited(summaryOf(before), edit)
      const texts = [id, before, JSON.stringify(summary)]
      if (Number(await this.#logs.script(editEntry, home, texts)) === 1) return summary
    }
    return null
  }

  async remove(account: string, gateway: string, query: LogQuery): Promise<number> {
    const home = await this.#find(account, gateway)
    if (!home) return 0
    const { items } = await this.#list(home, query)
    let removed = 0
    for (let at = 0; at < items.length; at += removalSize) {
      const ids = items.slice(at, at + removalSize).map(({ id }) => id)
      removed += Number(await this.#logs.script(removeEntries, home, ids))
    }
    return removed
  }

  async count(account: string, gateway: string): Promise<number> {
    const home = await this.#find(account, gateway)
    return home ? this.#count(home) : 0
  }

  async scan(
    account: string,
    gateway: string,
    { filters, descending, limit, after, maxScanned }: LogScanQuery,
  ): Promise<LogScan> {
    const { since, before } = timeOf(filters)
    const first = after ?? startOf(descending ? before : since)
    const until = performance.now() + scanPatience
    const items: LogSummary[] = []
    let [scanned, last] = [0, null as LogSummary | null]
    for await (const page of this.#inTime(account, gateway, { since, before }, descending, first))
      for (const entry of page) {
        if (items.length === limit || scanned >= maxScanned || isLate(scanned, until))
          return { items, scanned, next: last && placeOf(last, 'created_at') }
        scanned++
        last = entry
        if (matches(entry, filters)) items.push(entry)
      }
    return { items, scanned, next: null }
  }

  async sum(account: string, gateway: string, query: LogSumQuery): Promise<LogSums> {
    const { time, filters, maxScanned = Infinity } = query
    const sums = new WindowSums(query)
    const until = performance.now() + (maxScanned === Infinity ? Infinity : scanPatience)
    const first = startOf(time.before)
    let scanned = 0
    for await (const page of this.#inTime(account, gateway, time, true, first))
      for (const entry of page) {
        if (scanned >= maxScanned || isLate(scanned, until))
          return { windows: sums.windows, scanned, completeSince: Math.floor(entry.createdAt) + 1 }
        scanned++
        if (matches(entry, filters)) sums.add(entry)
      }
    return { windows: sums.windows, scanned, completeSince: time.since }
  }

  async marks(
    account: string,
    gateway: string,
    { since, width, count }: LogWindows,
  ): Promise<readonly LogMark[]> {
    const home = await this.#find(account, gateway)
    const marks: LogMark[] = []
    while (marks.length < count) {
      const some = Math.min(marksAtOnce, count - marks.length)
      const args = [since + marks.length * width, width, some]
      const reply = home ? await this.#logs.script(markWindows, home, args) : Array(2 * some).fill('')
      for (let at = 0; at < some; at++) {
        const [entries, mark] = (reply as (number | string)[]).slice(2 * at)
        marks.push({ mark: `${entries} ${mark}`, maxEntries: Number(entries) })
      }
    }
    return marks
  }

  async keepSum(account: string, gateway: string, window: MarkedWindow, sums: string): Promise<void> {
    const home = await this.#find(account, gateway)
    const { since, width, mark } = window
    if (home) await this.#logs.script(keepSum, home, [nameOf(window), since + width, `${mark}\n${sums}`])
  }

  async keptSums(
    account: string,
    gateway: string,
    windows: readonly MarkedWindow[],
  ): Promise<readonly (string | null)[]> {
    const home = windows.length > 0 ? await this.#find(account, gateway) : null
    if (!home) return windows.map(() => null)
    const texts = await this.#logs.run(['HMGET', home[4]!, ...windows.map(nameOf)])
    return (texts as (string | null)[]).map((text, i) => {
      const head = `${windows[i]!.mark}\n`
      return text?.startsWith(head) ? text.slice(head.length) : null
    })
  }

  async tail(account: string, gateway: string, after: string | null, limit: number): Promise<LogTail> {
    const home = await this.#find(account, gateway)
    if (!home) return { items: [], end: '0' }
    const [number = '', id = ''] = after?.split(' ') ?? []
    const reply = await this.#logs.script(tailEntries, home, [number, id, limit])
    const [last, lastId, texts] = reply as [string, string, string[]]
    return { items: texts.map(summaryOf), end: `${last} ${lastId}`.trimEnd() }
  }

  async *entries(account: string, gateway: string): AsyncGenerator<readonly LogEntry[]> {
    const home = await this.#find(account, gateway)
    for (let last = '0'; home; ) {
      const reply = await this.#logs.script(wholeEntries, home, [last, pageSize])
      const [next, texts] = reply as [string, string[]]
      if (texts.length === 0) return
      last = next
      yield Array.from({ length: texts.length / 2 }, (_, i) => entryOf(texts[2 * i]!, texts[2 * i + 1]!))
    }
  }

  /** Returns the keys of a gateway's logs, unless it was removed or made again. */
  async #find(account: string, gateway: string, madeAt?: number): Promise<Keys | null> {
    const record = await this.#records.run(['HGET', keys.records('gateway'), `${account}/${gateway}`])
    if (record === null) return null
    const text = String(record)
    if (madeAt !== undefined && parse<Gateway>(text)!.record.createdAt !== madeAt) return null
    const [, birth] = text.split(' ', 2)
    return logKeys(account, gateway, birth!)
  }

  async #count(home: Keys): Promise<number> {
    return Number(await this.#logs.run(['ZCARD', home[0]!]))
  }

  async #list(home: Keys, query: LogQuery): Promise<Listing<LogSummary>> {
    const { filters, orderBy, descending, offset, limit, after = null } = query
    if (filters.length > 0 || orderBy !== 'created_at') return this.#sift(home, query)
    const total = await this.#count(home)
    const items: LogSummary[] = []
    if (limit > 0)
      for await (const page of this.#pages(home, { descending, offset, after })) {
        items.push(...page)
        if (items.length >= limit) break
      }
    return { items: items.slice(0, limit), total }
  }

  /**
   * Yields the entries of a time in order, from behind a place, by pages. One by one they would survive minor
   * collections of V8, each of which then blocks the process for longer than a page does.
   */
  async *#inTime(
    account: string,
    gateway: string,
    { since, before }: LogTime,
    descending: boolean,
    after: Cursor | null,
  ): AsyncGenerator<readonly LogSummary[]> {
    const home = await this.#find(account, gateway)
    if (!home) return
    for await (const page of this.#pages(home, { descending, offset: 0, after })) {
      yield page.filter(({ createdAt: at }) => since <= at && at < before)
      const { createdAt: last } = page.at(-1)!
      if (descending ? last < since : last >= before) return
    }
  }

  /** Reads all summaries and holds on to no more of those that match than come before the end of the page. */
  async #sift(home: Keys, query: LogQuery): Promise<Listing<LogSummary>> {
    const selection = new LogSelection(query)
    const descending = query.orderBy === 'created_at' && query.descending
    for await (const page of this.#pages(home, { descending, offset: 0, after: null })) selection.add(page)
    const items: LogSummary[] = []
    const selected = selection.page()
    for (let at = 0; at < selected.length; at += pageSize) {
      const commands = selected.slice(at, at + pageSize).map(id => ['HGET', home[2]!, id] as const)
      // What was removed meanwhile is in no list.
      for (const text of (await this.#logs.runAll(commands)) as (string | null | Error)[])
        if (typeof text === 'string') items.push(summaryOf(text))
        else if (text !== null) throw text
    }
    return { items, total: selection.total }
  }

  /** Reads pages by time: from an offset after an entry, then each after the last; either may be gone. */
  async *#pages(
    home: Keys,
    { descending, offset, after }: { descending: boolean; offset: number; after: Cursor | null },
  ): AsyncGenerator<readonly LogSummary[]> {
    const way = descending ? 'ZREV' : 'Z'
    for (let [first, last] = [offset, after]; ; first = 0) {
      const args = [way, pageSize, first, ...(last ? [last.id, last.createdAt] : [])]
      const [isCut, texts] = (await this.#logs.script(listEntries, home, args)) as [number, string[]]
      const page: readonly LogSummary[] = texts.map(summaryOf)
      if (page.length > 0) yield page
      if (page.length < pageSize && isCut === 0) return
      last = page.at(-1)!
      await nextTurn()
    }
  }
}

/** Arguments of one or more commands, four per entry; one without entries may remove others. */
function* partsOf(entries: readonly LogEntry[]): Generator<readonly Argument[]> {
  let part: Argument[] = []
  let size = 0
  if (entries.length === 0) yield part
  for (const { request, response, providerResponse, ...summary } of entries) {
    const hasBodies = request || response || providerResponse
    const payloads = hasBodies ? JSON.stringify({ request, response, providerResponse }) : ''
    part.push(summary.id, summary.createdAt, JSON.stringify(summary), payloads)
    size += payloads.length
    if (size < largestAppend) continue
    yield part
    part = []
    size = 0
  }
  if (part.length > 0) yield part
}

/** Ms for which entries are looked at, if their number is bounded. */
const scanPatience = 50

/** Monotonic ms; some entries are always examined, so that each request makes progress. */
function isLate(scanned: number, until: number): boolean {
  return scanned % 64 === 63 && performance.now() > until
}

function startOf(at: number): Cursor | null {
  return Number.isFinite(at) ? { createdAt: at, id: '' } : null
}

function nameOf({ since, width }: MarkedWindow): string {
  return `${width}/${since}`
}

function entryOf(summary: string, payloads: string): LogEntry {
  const bodies = payloads === '' ? null : JSON.parse(payloads)
  return { ...summaryOf(summary), request: null, response: null, providerResponse: null, ...bodies }
}

/** Reads a summary; those that are older name no token. */
function summaryOf(text: string): LogSummary {
  const { tokenId = null, tokenName = null, ...summary } = JSON.parse(text)
  return { ...summary, tokenId, tokenName }
}
