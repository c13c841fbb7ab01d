// Budgets in the file of the credentials, a row for each bucket: a commit waits for the disk, and what is
// damaged is never taken for unspent. Rows that are over are removed when others are written.

import type { Clock } from '../../base/clock.ts'
import { nextTurn } from '../../base/turns/turns.ts'
import {
  type BucketAccount,
  emptyAccount,
  endOfAccount,
  readAccount,
  resetAccount,
  takeStep,
} from '../budget-ledger/ledger.ts'
import type { BudgetEntry, Budgets } from '../contract/budgets.ts'
import type { BudgetBucket, BudgetReply, BudgetStep, BudgetSum } from '../records/budget.ts'
import type { Command, Database, Row, Statement } from './database/database.ts'

/** Rows that are over and that one sweep removes, beside as many as it makes room for. */
const broom = 50
/** Ms until the next sweep after one that found no more. */
const sweepPeriod = 1_000
const readStep = 100

export class SqliteBudgets implements Budgets {
  readonly #db: Database
  readonly #clock: Clock
  readonly #get: Statement
  readonly #list: Statement
  readonly #put: Command
  readonly #sweep: Command
  #sweepsAt = Number.NEGATIVE_INFINITY

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.#get = db.prepare('SELECT record FROM budgets WHERE account = ? AND bucket = ? AND ends_at > ?')
    this.#list = db.prepare(
      `SELECT bucket, ends_at, record FROM budgets
         WHERE account = ? AND bucket > ? AND ends_at > ? ORDER BY bucket LIMIT ${readStep}`,
    )
    this.#put = db.command(
      `INSERT INTO budgets (account, bucket, ends_at, record) VALUES (?, ?, ?, ?)
         ON CONFLICT (account, bucket) DO UPDATE SET ends_at = excluded.ends_at, record = excluded.record`,
    )
    this.#sweep = db.command(
      `DELETE FROM budgets WHERE key IN
         (SELECT key FROM budgets WHERE ends_at <= ? ORDER BY ends_at LIMIT ?)`,
    )
  }

  get isUnreachable(): boolean {
    return this.#db.isUnreachable
  }

  step(step: BudgetStep): Promise<BudgetReply> {
    const { account: owner, lines } = step
    return this.#db.write(() => {
      const now = this.#clock.now()
      this.#sweepWithin(now, broom + lines.length)
      const accounts = lines.map(({ bucket }) => this.#accountWithin(owner, bucket, now))
      const reply = takeStep(accounts, step, now)
      for (const [i, account] of accounts.entries()) this.#putWithin(owner, lines[i]!, account, now)
      return reply
    })
  }

  read(owner: string, buckets: readonly BudgetBucket[]): Promise<readonly BudgetSum[]> {
    return this.#db.read(() => {
      const now = this.#clock.now()
      return buckets.map(({ bucket, window }) => {
        const account = this.#accountWithin(owner, bucket, now)
        return { bucket, ...readAccount(account, window, now) }
      })
    })
  }

  reset(owner: string, bucket: BudgetBucket): Promise<void> {
    return this.#db.write(() => {
      const now = this.#clock.now()
      const row = this.#get.get(owner, bucket.bucket, now)
      if (row === undefined) return
      const account = accountOf(row)
      resetAccount(account, bucket.window, now)
      this.#putWithin(owner, bucket, account, now)
    })
  }

  async *entries(owner: string): AsyncGenerator<readonly BudgetEntry[]> {
    for (let after = ''; ; ) {
      const rows = await this.#db.read(() => this.#list.all(owner, after, this.#clock.now()))
      if (rows.length > 0) yield rows.map(entryOf)
      if (rows.length < readStep) return
      after = String(rows.at(-1)!.bucket)
      await nextTurn()
    }
  }

  restore(owner: string, entries: readonly BudgetEntry[]): Promise<void> {
    return this.#db.write(() => {
      for (const { bucket, endsAt, slots, shares } of entries)
        this.#put(owner, bucket, endsAt, JSON.stringify({ slots, shares }))
    })
  }

  #accountWithin(owner: string, bucket: string, now: number): BucketAccount {
    const row = this.#get.get(owner, bucket, now)
    return row === undefined ? emptyAccount() : accountOf(row)
  }

  #putWithin(owner: string, { bucket, window }: BudgetBucket, account: BucketAccount, now: number): void {
    this.#put(owner, bucket, endOfAccount(account, window, now), JSON.stringify(account))
  }

  #sweepWithin(now: number, maxRows: number): void {
    if (now < this.#sweepsAt) return
    if (this.#sweep(now, maxRows) < maxRows) this.#sweepsAt = now + sweepPeriod
  }
}

function entryOf(row: Row): BudgetEntry {
  return { bucket: String(row.bucket), endsAt: Number(row.ends_at), ...accountOf(row) }
}

function accountOf({ record }: Row): BucketAccount {
  return JSON.parse(String(record))
}
