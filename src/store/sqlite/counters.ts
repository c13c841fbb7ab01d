// Counters in a file of their own beside the records, so that neither waits for the other.

import { bucketReach, bucketWidth, SlidingWindow } from '../../base/sliding-window.ts'
import type { Clock } from '../../base/clock.ts'
import type { CounterReply, CounterAsk, Counters } from '../contract/store.ts'
import { type Command, type Database, openCounts, type Row, type Statement } from './database/database.ts'

interface Waiting {
  readonly ask: CounterAsk
  readonly resolve: (answer: CounterReply) => void
  readonly reject: (error: unknown) => void
}

/** Expired windows that one transaction removes, in addition to as many as it may insert. */
const sweepSize = 50

const table = `
  CREATE TABLE IF NOT EXISTS counts (
    key TEXT PRIMARY KEY,
    ends_at REAL NOT NULL,
    count INTEGER NOT NULL,
    newest INTEGER,
    buckets BLOB
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS counts_by_end ON counts (ends_at)`

export class SqliteCounters implements Counters {
  readonly #db: Database
  readonly #clock: Clock
  readonly #get: Statement
  readonly #put: Command
  readonly #sweep: Command
  #waiting: Waiting[] = []

  static async open(path: string, timeout: number, clock: Clock): Promise<SqliteCounters> {
    return new SqliteCounters(await openCounts(path, table, timeout), clock)
  }

  private constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.#get = db.prepare('SELECT * FROM counts WHERE key = ? AND ends_at > ?')
    this.#put = db.command(
      'INSERT OR REPLACE INTO counts (key, ends_at, count, newest, buckets) VALUES (?, ?, ?, ?, ?)',
    )
    this.#sweep = db.command(
      `DELETE FROM counts WHERE key IN (SELECT key FROM counts WHERE ends_at <= ? ORDER BY ends_at LIMIT ?)`,
    )
  }

  get isUnreachable(): boolean {
    return this.#db.isUnreachable
  }

  get fault(): string | null {
    return this.#db.fault
  }

  spend(ask: CounterAsk): Promise<CounterReply> {
    if (this.#waiting.length === 0) setImmediate(() => this.#spendAll())
    return new Promise((resolve, reject) => void this.#waiting.push({ ask, resolve, reject }))
  }

  close(): void {
    this.#db.close()
  }

  async #spendAll(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    try {
      const answers = await this.#db.write(() => {
        const now = this.#clock.now()
        this.#sweep(now, sweepSize + waiting.length)
        return waiting.map(({ ask }) => this.#spendWithin(ask, now))
      })
      for (const [i, { resolve }] of waiting.entries()) resolve(answers[i]!)
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }

  #spendWithin(ask: CounterAsk, now: number): CounterReply {
    return ask.window.kind === 'sliding'
      ? this.#spendSliding(ask, ask.window.period, now)
      : this.#spendFixed(ask, ask.window.until, now)
  }

  #spendSliding({ key, limit, done, wanted }: CounterAsk, period: number, now: number): CounterReply {
    const window = windowOf(this.#get.get(key, now), period)
    const granted = grant(window.count(now), limit, done, wanted)
    window.add(now, done + granted)
    const { newest, counts } = window.state
    const count = window.count(now)
    const endsAt = now + (bucketReach(period) + 1) * bucketWidth(period)
    if (done + granted !== 0) this.#put(key, endsAt, count, newest, new Uint8Array(counts.buffer))
    return { count, granted, wait: window.wait(now, limit) }
  }

  #spendFixed({ key, limit, done, wanted }: CounterAsk, until: number, now: number): CounterReply {
    const name = `${key}:${until}`
    const before = Number(this.#get.get(name, now)?.count ?? 0)
    const granted = grant(before, limit, done, wanted)
    const count = before + done + granted
    if (done + granted !== 0) this.#put(name, until, count, null, null)
    return { count, granted, wait: count < limit ? 0 : Math.max(0, until - now) }
  }
}

function grant(count: number, limit: number, done: number, wanted: number): number {
  return Math.max(0, Math.min(wanted, limit - count - done))
}

function windowOf(row: Row | undefined, period: number): SlidingWindow {
  const buckets = row?.buckets
  if (!(buckets instanceof Uint8Array)) return new SlidingWindow(period)
  // A copy, as the bytes of a row may be unaligned in their buffer.
  const counts = new Int32Array(Uint8Array.from(buckets).buffer)
  if (counts.length !== bucketReach(period) + 1) return new SlidingWindow(period)
  return new SlidingWindow(period, { newest: Number(row!.newest), counts })
}
