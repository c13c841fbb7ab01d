// Log entries in Redis. Of each gateway: the ids as they came and by time, the summaries, and apart from them the payloads, so that
// lists don't read those. Filters and other orders than time are worked out here, a page of summaries at a time.
import { entriesOf, type LogBatch } from '../log-batch.ts'
import { logOrder, matches } from '../log-match.ts'
import type { LogEntry, LogSummary } from '../records.ts'
import type { Listing, LogLimit, LogQuery, Logs } from '../store.ts'
import type { Argument } from './connect.ts'
import type { Connection } from './connection.ts'
import { keys, logKeys } from './keys.ts'
import { appendEntries, listEntries, removeEntries, wholeEntries } from './log-scripts.ts'

/** How much goes to Redis in one command, in characters, so that none holds up the others for long. */
const largestAppend = 1024 * 1024
const pageSize = 500
const removalSize = 1_000

type Keys = readonly string[]
type Cursor = Pick<LogSummary, 'id' | 'createdAt'>

export class RedisLogs implements Logs {
  readonly #records: Connection
  readonly #logs: Connection

  constructor(records: Connection, logs: Connection) {
    this.#records = records
    this.#logs = logs
  }

  async append(
    account: string,
    gateway: string,
    batch: LogBatch,
    { most, strategy }: LogLimit,
  ): Promise<number> {
    const home = await this.#find(account, gateway)
    if (!home) return 0
    const entries = entriesOf(batch, account, gateway)
    // Those that had to go again at once would take the place of others when the batch is repeated.
    const wanted = strategy === 'DELETE_OLDEST' ? entries.slice(Math.max(0, entries.length - most)) : entries
    let kept = 0
    for (const part of partsOf(wanted)) {
      kept += Number(await this.#logs.script(appendEntries, home, [strategy, most, ...part]))
    }
    return kept
  }

  async list(account: string, gateway: string, query: LogQuery): Promise<Listing<LogSummary>> {
    const home = await this.#find(account, gateway)
    return home ? this.#list(home, query) : { items: [], total: 0 }
  }

  async get(account: string, gateway: string, id: string): Promise<LogEntry | null> {
    const home = await this.#find(account, gateway)
    if (!home) return null
    const [, , summaries, payloads] = home
    const found = await this.#logs.runAll([
      ['HGET', summaries!, id],
      ['HGET', payloads!, id],
    ])
    const [summary, bodies] = found as [string | null, string | null]
    return summary === null ? null : entryOf(summary, bodies ?? '')
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

  async *entries(account: string, gateway: string): AsyncGenerator<readonly LogEntry[]> {
    const home = await this.#find(account, gateway)
    for (let last = '0'; home; ) {
      const found = await this.#logs.script(wholeEntries, home, [last, pageSize])
      const [next, texts] = found as [string, string[]]
      if (texts.length === 0) return
      last = next
      yield Array.from({ length: texts.length / 2 }, (_, i) => entryOf(texts[2 * i]!, texts[2 * i + 1]!))
    }
  }

  /** Gives the keys of a gateway's logs while there is such a gateway. */
  async #find(account: string, gateway: string): Promise<Keys | null> {
    const kept = await this.#records.run(['HGET', keys.records('gateway'), `${account}/${gateway}`])
    if (kept === null) return null
    const [, birth] = String(kept).split(' ', 2)
    return logKeys(account, gateway, birth!)
  }

  async #count(home: Keys): Promise<number> {
    return Number(await this.#logs.run(['ZCARD', home[0]!]))
  }

  async #list(home: Keys, query: LogQuery): Promise<Listing<LogSummary>> {
    const { filters, orderBy, descending, offset, limit } = query
    if (filters.length > 0 || orderBy !== 'created_at') return this.#sift(home, query)
    const total = await this.#count(home)
    const items: LogSummary[] = []
    for await (const page of this.#pages(home, descending, Math.min(limit, pageSize), offset)) {
      items.push(...page)
      if (items.length >= limit) break
    }
    return { items: items.slice(0, limit), total }
  }

  /** Reads all summaries and holds on to no more of those that match than the page needs. */
  async #sift(home: Keys, query: LogQuery): Promise<Listing<LogSummary>> {
    const order = logOrder(query)
    const wanted = query.offset + query.limit
    const isByTime = query.orderBy === 'created_at'
    let total = 0
    let best: LogSummary[] = []
    for await (const page of this.#pages(home, isByTime && query.descending)) {
      const matching = page.filter(entry => matches(entry, query.filters))
      total += matching.length
      if (isByTime && best.length >= wanted) continue
      best = [...best, ...matching].sort(order).slice(0, wanted)
    }
    return { items: best.slice(query.offset), total }
  }

  async *#pages(
    home: Keys,
    descending: boolean,
    size = pageSize,
    offset = 0,
  ): AsyncGenerator<readonly LogSummary[]> {
    let last: Cursor | undefined
    while (size > 0) {
      const page: readonly LogSummary[] = await this.#page(home, descending, size, offset, last)
      yield page
      if (page.length < size) return
      last = page.at(-1)
    }
  }

  /** Reads a page by time: from an offset on, or behind the last entry of the page before, which may be gone by now. */
  async #page(
    home: Keys,
    descending: boolean,
    limit: number,
    offset: number,
    last?: Cursor,
  ): Promise<readonly LogSummary[]> {
    const args = [descending ? 'ZREV' : 'Z', limit, offset, ...(last ? [last.id, last.createdAt] : [])]
    const texts = (await this.#logs.script(listEntries, home, args)) as string[]
    return texts.map(text => JSON.parse(text))
  }
}

/** Cuts entries into the arguments of several commands, four for each. */
function* partsOf(entries: readonly LogEntry[]): Generator<readonly Argument[]> {
  let part: Argument[] = []
  let size = 0
  for (const { request, response, ...summary } of entries) {
    const payloads = request || response ? JSON.stringify({ request, response }) : ''
    part.push(summary.id, summary.createdAt, JSON.stringify(summary), payloads)
    size += payloads.length
    if (size < largestAppend) continue
    yield part
    part = []
    size = 0
  }
  if (part.length > 0) yield part
}

function entryOf(summary: string, payloads: string): LogEntry {
  const bodies = payloads === '' ? { request: null, response: null } : JSON.parse(payloads)
  return { ...JSON.parse(summary), ...bodies }
}
