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
import type { Command, Database, Row, Statement, Value } from '../database/database.ts'

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
  readonly #dropCount: Command
  readonly #firstEnd: Statement
  readonly #firstEndOfOwner: Statement
  readonly #expired: Statement
  readonly #remove: Command
  readonly #renew: Command
  readonly #settle: Command
  readonly #release: Statement

  /** `quick` is a connection to the same file whose commits do not wait for the disk. */
  constructor(db: Database, quick: Database, clock: Clock) {
    this.#db = db
    this.#quick = quick
    this.#clock = clock
    const place = 'account = ? AND gateway = ? AND name = ?'
    this.#get = db.prepare(`SELECT * FROM claims WHERE ${place} AND expires_at > ?`)
    this.#any = db.prepare(`SELECT key, account, owner FROM claims WHERE ${place}`)
    this.#insert = db.command(
      `INSERT INTO claims (account, gateway, name, owner, fingerprint, holder, leased_until, is_done, expires_at, note)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#list = db.prepare(
      `SELECT * FROM claims WHERE account = ? AND (gateway, name) > (?, ?) AND expires_at > ?
       ORDER BY gateway, name LIMIT ${pageSize}`,
    )
    this.#count = db.prepare('SELECT count FROM claim_sums WHERE account = ? AND owner = ?')
    this.#addCount = db.command(
      `INSERT INTO claim_sums (account, owner, count) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET count = count + excluded.count`,
    )
    this.#dropCount = db.command('DELETE FROM claim_sums WHERE account = ? AND owner = ? AND count = 0')
    const firstEnd = 'SELECT MIN(expires_at) AS until FROM claims WHERE account = ?'
    this.#firstEnd = db.prepare(firstEnd)
    this.#firstEndOfOwner = db.prepare(`${firstEnd} AND owner = ?`)
    this.#expired = db.prepare(
      `SELECT key, account, owner FROM claims WHERE expires_at <= ? ORDER BY expires_at LIMIT ${broom}`,
    )
    this.#remove = db.command('DELETE FROM claims WHERE key = ?')
    const own =
      'account = ?1 AND gateway = ?2 AND name = ?3 AND expires_at > ?4 AND holder = ?5 AND is_done = 0'
    this.#renew = quick.command(`UPDATE claims SET leased_until = ?4 + ?6 WHERE ${own}`)
    this.#settle = quick.command(`UPDATE claims SET is_done = 1, note = ?6 WHERE ${own}`)
    this.#release = db.prepare(`DELETE FROM claims WHERE ${own} RETURNING owner`)
  }

  claim(ask: ClaimAsk): Promise<ClaimReply> {
    const { account, gateway, key, owner, fingerprint, holder, lease, expiresAt, note } = ask
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
      const full = this.#fullWithin(ask)
      if (full !== null) return full
      this.#insert(account, gateway, key, owner, fingerprint, holder, now + lease, 0, expiresAt, note)
      this.#countWithin(account, owner, 1)
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
      const row = this.#release.get(account, gateway, key, this.#clock.now(), holder)
      if (row !== undefined) this.#countWithin(account, row.owner!, -1)
      return row !== undefined
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
      for (const entry of entries) {
        const { gateway, key, owner, fingerprint, holder, note, leasedUntil, isDone, expiresAt } = entry
        this.#removeWithin(this.#any.all(account, gateway, key))
        const ends = [leasedUntil, isDone ? 1 : 0, expiresAt] as const
        this.#insert(account, gateway, key, owner, fingerprint, holder, ...ends, note)
        this.#countWithin(account, owner, 1)
      }
    })
  }

  #removeWithin(rows: readonly Row[]): void {
    for (const { key, account, owner } of rows) {
      this.#remove(key!)
      this.#countWithin(account!, owner!, -1)
    }
  }

  #countWithin(account: Value, owner: Value, change: 1 | -1): void {
    // What has no owner is counted for its account alone.
    for (const whose of owner === '' ? [''] : ['', owner]) {
      this.#addCount(account, whose, change)
      if (change === -1) this.#dropCount(account, whose)
    }
  }

  /** Null if there is room for one more. */
  #fullWithin({ account, owner, maxClaims, maxOfOwner }: ClaimAsk): ClaimReply | null {
    const countOf = (whose: string) => Number(this.#count.get(account, whose)?.count ?? 0)
    const until = (row: Row | undefined) => Number(row!.until)
    if (countOf(owner) >= maxOfOwner)
      return { outcome: 'full', of: 'owner', until: until(this.#firstEndOfOwner.get(account, owner)) }
    if (countOf('') < maxClaims) return null
    return { outcome: 'full', of: 'account', until: until(this.#firstEnd.get(account)) }
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
    owner: String(row.owner),
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
