// Budgets in the file of the counters. The steps of a turn are one transaction.

import type { Clock } from '../../base/clock.ts'
import {
  type BucketAccount,
  emptyAccount,
  endOfAccount,
  readAccount,
  resetAccount,
  takeStep,
} from '../budget-ledger/ledger.ts'
import type { Budgets } from '../contract/budgets.ts'
import type { BudgetBucket, BudgetReply, BudgetStep, BudgetSum } from '../records/budget.ts'
import { type Command, type Database, openCounts, type Statement } from './database/database.ts'

interface Waiting {
  readonly step: BudgetStep
  readonly resolve: (reply: BudgetReply) => void
  readonly reject: (error: unknown) => void
}

/** Accounts that are over, of which one transaction removes so many. */
const sweepSize = 20

const table = `
  CREATE TABLE IF NOT EXISTS budgets (
    account TEXT NOT NULL,
    bucket TEXT NOT NULL,
    ends_at REAL NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (account, bucket)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS budgets_by_end ON budgets (ends_at)`

export class SqliteBudgets implements Budgets {
  readonly #db: Database
  readonly #clock: Clock
  readonly #get: Statement
  readonly #put: Command
  readonly #sweep: Command
  #waiting: Waiting[] = []

  static async open(path: string, timeout: number, clock: Clock): Promise<SqliteBudgets> {
    return new SqliteBudgets(await openCounts(path, table, timeout), clock)
  }

  private constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.#get = db.prepare('SELECT state FROM budgets WHERE account = ? AND bucket = ? AND ends_at > ?')
    this.#put = db.command(
      'INSERT OR REPLACE INTO budgets (account, bucket, ends_at, state) VALUES (?, ?, ?, ?)',
    )
    this.#sweep = db.command(
      `DELETE FROM budgets WHERE (account, bucket) IN
       (SELECT account, bucket FROM budgets WHERE ends_at <= ? ORDER BY ends_at LIMIT ?)`,
    )
  }

  get isUnreachable(): boolean {
    return this.#db.isUnreachable
  }

  get fault(): string | null {
    return this.#db.fault
  }

  step(step: BudgetStep): Promise<BudgetReply> {
    if (this.#waiting.length === 0) setImmediate(() => this.#takeAll())
    return new Promise((resolve, reject) => void this.#waiting.push({ step, resolve, reject }))
  }

  read(account: string, buckets: readonly BudgetBucket[]): Promise<readonly BudgetSum[]> {
    return this.#db.read(() => {
      const now = this.#clock.now()
      return buckets.map(({ bucket, window }) => ({
        bucket,
        ...readAccount(this.#accountOf(account, bucket, now), window, now),
      }))
    })
  }

  reset(account: string, { bucket, window }: BudgetBucket): Promise<void> {
    return this.#db.write(() => {
      const now = this.#clock.now()
      const state = this.#accountOf(account, bucket, now)
      resetAccount(state)
      this.#put(account, bucket, endOfAccount(state, window, now), JSON.stringify(state))
    })
  }

  close(): void {
    this.#db.close()
  }

  async #takeAll(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    try {
      const replies = await this.#db.write(() => {
        const now = this.#clock.now()
        this.#sweep(now, sweepSize + waiting.length)
        return waiting.map(({ step }) => this.#takeWithin(step, now))
      })
      for (const [i, { resolve }] of waiting.entries()) resolve(replies[i]!)
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }

  #takeWithin(step: BudgetStep, now: number): BudgetReply {
    const { account, lines } = step
    const states = lines.map(({ bucket }) => this.#accountOf(account, bucket, now))
    const reply = takeStep(states, step, now)
    for (const [i, { bucket, window }] of lines.entries()) {
      const state = states[i]!
      this.#put(account, bucket, endOfAccount(state, window, now), JSON.stringify(state))
    }
    return reply
  }

  #accountOf(account: string, bucket: string, now: number): BucketAccount {
    const row = this.#get.get(account, bucket, now)
    return row === undefined ? emptyAccount() : JSON.parse(row.state as string)
  }
}
