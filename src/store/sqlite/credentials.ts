// Credentials, one row each. Expired ones are removed when others are put.

import type { Clock } from '../../base/clock.ts'
import { nextTurn } from '../../base/turns/turns.ts'
import {
  type Consumption,
  type Credential,
  type CredentialKind,
  type CredentialOwner,
  type Exchange,
  type Exchanged,
  isDigest,
  isReplay,
  jsonOf,
  narrowest,
  type Succession,
} from '../records/credential.ts'
import type { Credentials, MaybeAtOnce } from '../contract/store.ts'
import type { SqliteChanges } from './changes.ts'
import type { Command, Database, Row, Statement } from './database/database.ts'

/** The maximum number that one step removes, of an owner and of expired ones, so that none takes long. */
const removeStep = 500
const broom = 50
/** Delay until the next search for expired credentials after one that found no more, in ms. */
const sweepPeriod = 1_000

const endKind = 'ended_family' satisfies CredentialKind

const columns = { user: 'user', client: 'client', grant: 'consent' } as const

const byDigest = 'digest = ? AND kind = ? AND expires_at > ?'

export class SqliteCredentials implements Credentials {
  readonly #db: Database
  readonly #changes: SqliteChanges
  readonly #clock: Clock
  readonly #get: Statement
  readonly #put: Command
  readonly #replace: Command
  readonly #consume: Command
  readonly #remove: Command
  readonly #sweep: Command
  readonly #lists = new Map<string, Statement>()
  readonly #removals = new Map<string, Command>()
  #sweepsAt = Number.NEGATIVE_INFINITY

  constructor(db: Database, changes: SqliteChanges, clock: Clock) {
    this.#db = db
    this.#changes = changes
    this.#clock = clock
    this.#get = db.prepare(`SELECT * FROM credentials WHERE ${byDigest}`)
    this.#put = db.command(
      `INSERT INTO credentials (digest, kind, user, client, consent, created_at, expires_at, consumed_at, data)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
       ON CONFLICT (digest, kind) DO UPDATE SET
         user = ?3, client = ?4, consent = ?5, created_at = ?6, expires_at = ?7, data = ?9,
         consumed_at = iif(expires_at > ?10, coalesce(consumed_at, ?8), ?8)`,
    )
    this.#replace = db.command(
      `UPDATE credentials SET user = ?3, client = ?4, consent = ?5, created_at = ?6, expires_at = ?7, consumed_at = ?8, data = ?9
       WHERE digest = ?1 AND kind = ?2 AND expires_at > ?10 AND consumed_at IS NULL`,
    )
    this.#consume = db.command(
      `UPDATE credentials SET consumed_at = ?4
       WHERE digest = ?1 AND kind = ?2 AND expires_at > ?3 AND consumed_at IS NULL`,
    )
    this.#remove = db.command(`DELETE FROM credentials WHERE ${byDigest}`)
    this.#sweep = db.command(
      `DELETE FROM credentials WHERE key IN
         (SELECT key FROM credentials WHERE expires_at <= ? ORDER BY expires_at LIMIT ${broom})`,
    )
  }

  get(kind: CredentialKind, digest: string): MaybeAtOnce<Credential | null> {
    return isDigest(digest) ? this.#db.glance(() => this.#read(kind, digest)) : null
  }

  async put(credential: Credential, when: 'always' | 'present' = 'always'): Promise<boolean> {
    const json = jsonOf(credential)
    const write = when === 'present' ? this.#replace : this.#put
    return this.#db.write(() => {
      this.#sweepWithin()
      return this.#write(write, credential, json)
    })
  }

  async putAll(credentials: readonly Credential[]): Promise<void> {
    const all = credentials.map(credential => [credential, jsonOf(credential)] as const)
    await this.#db.write(() => {
      this.#sweepWithin()
      for (const [credential, json] of all) this.#write(this.#put, credential, json)
    })
  }

  async consume(kind: CredentialKind, digest: string, at: number): Promise<Consumption | null> {
    if (!isDigest(digest)) return null
    return this.#db.write(() => {
      const isFirst = this.#consume(bytesOf(digest), kind, this.#clock.now(), at) === 1
      const credential = this.#read(kind, digest)
      return credential && { credential, isFirst }
    })
  }

  async exchange(exchange: Exchange): Promise<Exchanged> {
    const { kind, digest, at, issued, end } = exchange
    const all = issued.map(credential => [credential, jsonOf(credential)] as const)
    const json = jsonOf(end)
    if (!isDigest(digest)) return { outcome: 'ended', consumedAt: null }
    let mustReport = false
    const exchanged = await this.#db.write((): Exchanged => {
      const current = this.#read(kind, digest)
      if (current === null) return { outcome: 'ended', consumedAt: null }
      const hasEnded = this.#hasEnded(end.digest)
      const last = this.#successionOf(end.digest)
      if (isReplay(current, exchange, last)) {
        mustReport = true
        if (!hasEnded) this.#writeEnd(end, json)
        return { outcome: 'replayed', consumedAt: current.consumedAt }
      }
      if (hasEnded) return { outcome: 'ended', consumedAt: null }
      if (current.consumedAt === null) this.#consume(bytesOf(digest), kind, this.#clock.now(), at)
      else if (last !== null) mustReport = this.#supersede(last, at)
      this.#sweepWithin()
      for (const [credential, json] of all) this.#write(this.#put, credential, json)
      return { outcome: 'issued', consumedAt: current.consumedAt ?? at }
    })
    if (mustReport) await this.#changes.tell()
    return exchanged
  }

  async endFamily(end: Credential): Promise<void> {
    const json = jsonOf(end)
    await this.#db.write(() => this.#writeEnd(end, json))
    await this.#changes.tell()
  }

  async hasEnded(digest: string): Promise<boolean> {
    return this.#db.read(() => this.#hasEnded(digest))
  }

  async remove(kind: CredentialKind, digest: string): Promise<boolean> {
    if (!isDigest(digest)) return false
    const isRemoved = await this.#db.write(() => {
      const isDone = this.#remove(bytesOf(digest), kind, this.#clock.now()) === 1
      if (isDone) this.#note(kind, digest)
      return isDone
    })
    if (isRemoved) await this.#changes.tell()
    return isRemoved
  }

  async removeOf(owner: CredentialOwner, kinds: readonly CredentialKind[] = []): Promise<number> {
    const [ownerKind, ownerId] = narrowest(owner)
    const { where, values } = conditionOf(owner, kinds)
    const remove = cachedIn(this.#removals, where, () =>
      this.#db.command(
        `DELETE FROM credentials WHERE key IN
           (SELECT key FROM credentials WHERE ${where} AND expires_at > ? LIMIT ${removeStep})`,
      ),
    )
    for (let removed = 0; ; await nextTurn()) {
      const count = await this.#db.write(() => {
        const count = remove(...values, this.#clock.now())
        if (count > 0) this.#note(ownerKind, ownerId)
        return count
      })
      removed += count
      if (count > 0) await this.#changes.tell()
      if (count < removeStep) return removed
    }
  }

  async list(owner: CredentialOwner, kind: CredentialKind, limit: number): Promise<readonly Credential[]> {
    narrowest(owner)
    const { where, values } = conditionOf(owner, [kind])
    const list = cachedIn(this.#lists, where, () =>
      this.#db.prepare(
        `SELECT * FROM credentials WHERE ${where} AND expires_at > ? ORDER BY expires_at DESC LIMIT ?`,
      ),
    )
    const maxRows = Math.min(limit, Number.MAX_SAFE_INTEGER)
    return this.#db.read(() => list.all(...values, this.#clock.now(), maxRows).map(fromRow))
  }

  #read(kind: CredentialKind, digest: string): Credential | null {
    const row = this.#get.get(bytesOf(digest), kind, this.#clock.now())
    return row ? fromRow(row) : null
  }

  #hasEnded(digest: string): boolean {
    return this.#get.get(bytesOf(digest), endKind, this.#clock.now()) !== undefined
  }

  /** Returns a family's succession; null if none is stored, or an earlier version has continued it. */
  #successionOf(digest: string): Succession | null {
    const last = (this.#read('token_family', digest)?.data ?? null) as Succession | null
    const hasGoneOn =
      last !== null && (this.#read('refresh_token', last.refresh)?.consumedAt ?? null) !== null
    return hasGoneOn ? null : last
  }

  /** Ends the latest tokens of a family, whose response was lost; returns whether that must be reported. */
  #supersede({ refresh, access }: Succession, at: number): boolean {
    const now = this.#clock.now()
    this.#consume(bytesOf(refresh), 'refresh_token', now, at)
    const isRemoved = this.#remove(bytesOf(access), 'access_token', now) === 1
    if (isRemoved) this.#note('access_token', access)
    return isRemoved
  }

  #writeEnd(end: Credential, json: string): void {
    this.#write(this.#put, end, json)
    this.#note(endKind, end.digest)
  }

  #write(command: Command, credential: Credential, json: string): boolean {
    const { digest, kind, user, client, grant, createdAt, expiresAt, consumedAt } = credential
    const times = [createdAt, expiresAt, consumedAt]
    return command(bytesOf(digest), kind, user, client, grant, ...times, json, this.#clock.now()) === 1
  }

  #note(account: string, id: string): void {
    this.#changes.note(this.#changes.nextVersion(), 'credential', account, id)
  }

  /** Removes some expired credentials, within a transaction, and continues at once while there are many. */
  #sweepWithin(): void {
    const now = this.#clock.now()
    if (now < this.#sweepsAt) return
    if (this.#sweep(now) < broom) this.#sweepsAt = now + sweepPeriod
  }
}

function conditionOf({ user, client, grant }: CredentialOwner, kinds: readonly CredentialKind[]) {
  const owners = Object.entries({ user, client, grant }).filter(([, id]) => id !== undefined)
  const terms = owners.map(([name]) => `${columns[name as keyof typeof columns]} = ?`)
  if (kinds.length > 0) terms.push(`kind IN (${kinds.map(() => '?').join(', ')})`)
  return { where: terms.join(' AND '), values: [...owners.map(([, id]) => id!), ...kinds] }
}

function cachedIn<T>(cache: Map<string, T>, key: string, make: () => T): T {
  const value = cache.get(key) ?? make()
  cache.set(key, value)
  return value
}

function bytesOf(digest: string): Uint8Array {
  return Buffer.from(digest, 'hex')
}

function fromRow(row: Row): Credential {
  const { kind, digest, user, client, consent, created_at, expires_at, consumed_at, data } = row
  return {
    kind: kind as CredentialKind,
    digest: Buffer.from(digest as Uint8Array).toString('hex'),
    user: user as string | null,
    client: client as string | null,
    grant: consent as string | null,
    data: JSON.parse(String(data)),
    createdAt: Number(created_at),
    expiresAt: Number(expires_at),
    consumedAt: consumed_at as number | null,
  }
}
