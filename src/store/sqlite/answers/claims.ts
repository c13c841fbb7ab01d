// Claims in the file of the credentials, a row each. What a power cut must not undo waits for the disk; the
// end of a claim need not, as its call then counts as lost.

import type { Clock } from '../../../base/clock.ts'
import { nextTurn } from '../../../base/turns/turns.ts'
import type { Claims } from '../../contract/answers.ts'
import type {
  AnswerPlace,
  Claim,
  ClaimAsk,
  ClaimEntry,
  ClaimReply,
  ClaimState,
} from '../../answers/answer.ts'
import type { Command, Database, Row, Statement } from '../database/database.ts'

/** Expired claims that each new one removes. */
const broom = 20
const pageSize = 100

export class SqliteClaims implements Claims {
  readonly #db: Database
  readonly #quick: Database
  readonly #clock: Clock
  readonly #get: Statement
  readonly #any: Statement
  readonly #insert: Command
  readonly #list: Statement
  readonly #count: Statement
  readonly #addCount: Command
  readonly #expired: Statement
  readonly #remove: Command
  readonly #renew: Command
  readonly #settle: Command
  readonly #release: Command

  /** `quick` is a connection to the same file whose commits do not wait for the disk. */
  constructor(db: Database, quick: Database, clock: Clock) {
    this.#db = db
    this.#quick = quick
    this.#clock = clock
    const place = 'account = ? AND gateway = ? AND name = ?'
    this.#get = db.prepare(`SELECT * FROM claims WHERE ${place} AND expires_at > ?`)
    this.#any = db.prepare(`SELECT key, account FROM claims WHERE ${place}`)
    this.#insert = db.command(
      `INSERT INTO claims (account, gateway, name, fingerprint, holder, leased_until, is_done, expires_at, note)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#list = db.prepare(
      `SELECT * FROM claims WHERE account = ? AND (gateway, name) > (?, ?) AND expires_at > ?
       ORDER BY gateway, name LIMIT ${pageSize}`,
    )
    this.#count = db.prepare('SELECT count FROM claim_counts WHERE account = ?')
    this.#addCount = db.command(
      `INSERT INTO claim_counts (account, count) VALUES (?, ?)
       ON CONFLICT DO UPDATE SET count = count + excluded.count`,
    )
    this.#expired = db.prepare(
      `SELECT key, account FROM claims WHERE expires_at <= ? ORDER BY expires_at LIMIT ${broom}`,
    )
    this.#remove = db.command('DELETE FROM claims WHERE key = ?')
    const own =
      'account = ?1 AND gateway = ?2 AND name = ?3 AND expires_at > ?4 AND holder = ?5 AND is_done = 0'
    this.#renew = quick.command(`UPDATE claims SET leased_until = ?4 + ?6 WHERE ${own}`)
    this.#settle = quick.command(`UPDATE claims SET is_done = 1, note = ?6 WHERE ${own}`)
    this.#release = db.command(`DELETE FROM claims WHERE ${own}`)
  }

  claim(ask: ClaimAsk): Promise<ClaimReply> {
    const { account, gateway, key, fingerprint, holder, lease, expiresAt, note, maxClaims } = ask
    return this.#db.write((): ClaimReply => {
      const now = this.#clock.now()
      const row = this.#get.get(account, gateway, key, now)
      if (row !== undefined) {
        const claim = claimOf(row, now)
        const isOwn = claim.holder === holder && claim.fingerprint === fingerprint && claim.state !== 'done'
        return isOwn ? { outcome: 'new' } : { outcome: 'taken', claim }
      }
      this.#removeWithin(this.#expired.all(now))
      // One that has expired since, and was not among the oldest.
      this.#removeWithin(this.#any.all(account, gateway, key))
      if (Number(this.#count.get(account)?.count ?? 0) >= maxClaims) return { outcome: 'full' }
      this.#insert(account, gateway, key, fingerprint, holder, now + lease, 0, expiresAt, note)
      this.#addCount(account, 1)
      return { outcome: 'new' }
    })
  }

  async look({ account, gateway, key }: AnswerPlace): Promise<Claim | null> {
    return this.#db.read(() => {
      const now = this.#clock.now()
      const row = this.#get.get(account, gateway, key, now)
      return row === undefined ? null : claimOf(row, now)
    })
  }

  renew({ account, gateway, key }: AnswerPlace, holder: string, lease: number): Promise<boolean> {
    return this.#quick.write(() => this.#renew(account, gateway, key, this.#clock.now(), holder, lease) === 1)
  }

  settle({ account, gateway, key }: AnswerPlace, holder: string, note: string): Promise<boolean> {
    return this.#quick.write(() => this.#settle(account, gateway, key, this.#clock.now(), holder, note) === 1)
  }

  release({ account, gateway, key }: AnswerPlace, holder: string): Promise<boolean> {
    return this.#db.write(() => {
      const isReleased = this.#release(account, gateway, key, this.#clock.now(), holder) === 1
      if (isReleased) this.#addCount(account, -1)
      return isReleased
    })
  }

  async *entries(account: string): AsyncGenerator<readonly ClaimEntry[]> {
    for (let [gateway, name] = ['', '']; ; ) {
      const rows = await this.#db.read(() => this.#list.all(account, gateway, name, this.#clock.now()))
      if (rows.length > 0) yield rows.map(entryOf)
      const last = rows.at(-1)
      if (last === undefined || rows.length < pageSize) return
      ;[gateway, name] = [String(last.gateway), String(last.name)]
      await nextTurn()
    }
  }

  restore(account: string, entries: readonly ClaimEntry[]): Promise<void> {
    return this.#db.write(() => {
      for (const { gateway, key, fingerprint, holder, note, leasedUntil, isDone, expiresAt } of entries) {
        this.#removeWithin(this.#any.all(account, gateway, key))
        const ends = [leasedUntil, isDone ? 1 : 0, expiresAt] as const
        this.#insert(account, gateway, key, fingerprint, holder, ...ends, note)
        this.#addCount(account, 1)
      }
    })
  }

  #removeWithin(rows: readonly Row[]): void {
    for (const { key, account } of rows) {
      this.#remove(key!)
      this.#addCount(account!, -1)
    }
  }
}

function claimOf(row: Row, now: number): Claim {
  return {
    state: stateOf(row, now),
    fingerprint: String(row.fingerprint),
    holder: String(row.holder),
    note: String(row.note),
  }
}

function entryOf(row: Row): ClaimEntry {
  return {
    account: String(row.account),
    gateway: String(row.gateway),
    key: String(row.name),
    fingerprint: String(row.fingerprint),
    holder: String(row.holder),
    note: String(row.note),
    leasedUntil: Number(row.leased_until),
    isDone: row.is_done === 1,
    expiresAt: Number(row.expires_at),
  }
}

function stateOf({ is_done, leased_until }: Row, now: number): ClaimState {
  if (is_done === 1) return 'done'
  return Number(leased_until) > now ? 'running' : 'lost'
}
