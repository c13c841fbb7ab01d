// Records in Redis: what all kinds have in common, and how a digest finds a token.

import type { Clock } from '../../base/clock.ts'
import type { Token } from '../records.ts'
import { nextTurn } from '../../base/turns/turns.ts'
import type {
  Listing,
  Page,
  Position,
  RecordKind,
  Records,
  Together,
  Tokens,
  Versioned,
  WalkStart,
} from '../store.ts'
import type { Argument } from './server/connect.ts'
import type { Connection } from './server/connection.ts'
import type { DurableWrites } from './server/durability.ts'
import { changeChannel, keys } from './keys.ts'
import {
  findToken,
  insertRecord,
  listRecords,
  readStep,
  recordKeys,
  removeRecord,
  replaceRecord,
} from './record-scripts.ts'
import type { Script } from './server/script.ts'
import { togetherArguments, togetherKeys } from './record-writes.ts'

/** What scripts must know of a record. */
export interface Traits<T> {
  readonly kind: RecordKind
  readonly createdAt: (record: T) => number
  /** What finds it beside its id; - for nothing. */
  readonly digest: (record: T) => string
  /** When somebody has to look after it; null for never. */
  readonly dueAt: (record: T) => number | null
}

const mostParsed = 1_000
/** The longest text that is remembered to be compared. */
const longestParsed = 64 * 1024

/** A record as it is kept: `version birth digest json`. */
type Kept = string | null

/** Returns the traits of a kind that nothing but its id finds, and nobody looks after. */
export function plainTraits(kind: RecordKind): Traits<{ readonly createdAt: number }> {
  return { kind, createdAt: ({ createdAt }) => createdAt, digest: () => '-', dueAt: () => null }
}

const tokenTraits: Traits<Token> = {
  kind: 'token',
  createdAt: token => token.issuedOn,
  digest: token => token.digest,
  dueAt: () => null,
}

export class RedisRecords<T extends { readonly account: string; readonly id: string }> implements Records<T> {
  readonly #traits: Traits<T>
  /** Records as they were read last: a text that is the same need not be parsed again. */
  readonly #parsed = new Map<string, { readonly kept: Kept; readonly record: Versioned<T> }>()
  readonly #connection: Connection
  readonly #writes: DurableWrites
  readonly #clock: Clock

  constructor(traits: Traits<T>, connection: Connection, writes: DurableWrites, clock: Clock) {
    this.#traits = traits
    this.#connection = connection
    this.#writes = writes
    this.#clock = clock
  }

  async get(account: string, id: string): Promise<Versioned<T> | null> {
    const field = `${account}/${id}`
    const kept = (await this.#connection.run(['HGET', this.#home, field])) as Kept
    const before = this.#parsed.get(field)
    if (before !== undefined && before.kept === kept) return before.record
    const record = parse<T>(kept)
    if (record === null) await this.#writes.confirmAbsence()
    if (this.#parsed.size === mostParsed) this.#parsed.clear()
    if (record !== null && kept!.length <= longestParsed) this.#parsed.set(field, { kept, record })
    return record
  }

  async list(account: string, { offset, limit, after = null }: Page): Promise<Listing<T>> {
    const items: T[] = []
    let from: Page = { offset, limit: Math.min(limit, readStep), after }
    for (;;) {
      const { total, isCut, records } = await this.#look(account, from)
      items.push(...records)
      if (items.length >= limit || (records.length < from.limit && !isCut)) return { total, items }
      const left = Math.min(limit - items.length, readStep)
      from = { offset: 0, limit: left, after: this.#placeOf(records.at(-1)!) }
      await nextTurn()
    }
  }

  async *walk(account: string, { after = null, descending = false }: WalkStart = {}) {
    for (let from = after; ; ) {
      const page = { offset: 0, limit: readStep, after: from }
      const { isCut, records } = await this.#look(account, page, descending)
      if (records.length > 0) yield records
      if (records.length < readStep && !isCut) return
      from = this.#placeOf(records.at(-1)!)
      await nextTurn()
    }
  }

  insert(record: T, together?: Together): Promise<boolean> {
    const args = [...this.#describe(record), this.#traits.createdAt(record)]
    return this.#write(insertRecord, record.account, args, together)
  }

  replace(record: T, version: number, together?: Together): Promise<boolean> {
    return this.#write(replaceRecord, record.account, [...this.#describe(record), version], together)
  }

  remove(account: string, id: string, together?: Together, version?: number): Promise<boolean> {
    return this.#write(removeRecord, account, [account, id, '-', '', '', version ?? ''], together)
  }

  /** Reads a part of a list: as much of it as one look takes. */
  async #look(account: string, { offset, limit, after = null }: Page, descending = false) {
    const homes = [this.#home, keys.order(this.#traits.kind, account)]
    const place = after === null ? [] : [after.at, after.id]
    const args = [account, descending ? 'ZREV' : 'Z', offset, limit, ...place]
    const found = await this.#connection.script(listRecords, homes, args)
    const [total, isCut, texts] = found as [number, number, string[]]
    return { total, isCut: isCut === 1, records: texts.map(text => parse<T>(text)!.record) }
  }

  #placeOf(record: T): Position {
    return { at: this.#traits.createdAt(record), id: record.id }
  }

  get #home(): string {
    return keys.records(this.#traits.kind)
  }

  #describe(record: T): readonly Argument[] {
    const { digest, dueAt } = this.#traits
    return [record.account, record.id, digest(record), JSON.stringify(record), dueAt(record) ?? '']
  }

  async #write(
    script: Script,
    account: string,
    args: readonly Argument[],
    together: Together = {},
  ): Promise<boolean> {
    const { kind } = this.#traits
    const homes = [...recordKeys(kind, account), ...togetherKeys(account, together)]
    const more = togetherArguments(together, this.#clock)
    return (await this.#writes.run(script, homes, [...more, changeChannel, kind, ...args])) === 1
  }
}

export class RedisTokens extends RedisRecords<Token> implements Tokens {
  readonly #connection: Connection
  readonly #writes: DurableWrites

  constructor(connection: Connection, writes: DurableWrites, clock: Clock) {
    super(tokenTraits, connection, writes, clock)
    this.#connection = connection
    this.#writes = writes
  }

  async findByDigest(digest: string): Promise<Token | null> {
    const found = await this.#connection.script(findToken, [keys.digests, keys.records('token')], [digest])
    if (found === null) await this.#writes.confirmAbsence()
    return parse<Token>(found as Kept)?.record ?? null
  }
}

/** Reads what is kept. */
export function parse<T>(text: Kept): Versioned<T> | null {
  if (text === null) return null
  const [version] = text.split(' ', 1)
  const json = text.slice(text.indexOf(' {') + 1)
  return { record: JSON.parse(json), version: Number(version) }
}
