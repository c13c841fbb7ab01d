// Records in Redis: what all kinds have in common, and how a digest finds a token. redis-store.ts opens them, oauth-clients.ts adds to them.
import type { Clock } from '../../base/clock.ts'
import type { Token } from '../records.ts'
import type { Listing, Page, RecordKind, Records, Together, Tokens, Versioned } from '../store.ts'
import type { Argument } from './connect.ts'
import type { Connection } from './connection.ts'
import type { DurableWrites } from './durability.ts'
import { changeChannel, keys } from './keys.ts'
import {
  findToken,
  insertRecord,
  listRecords,
  recordKeys,
  removeRecord,
  replaceRecord,
} from './record-scripts.ts'
import type { Script } from './script.ts'
import { togetherArguments, togetherKeys } from './together.ts'

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

/** The traits of a kind that nothing but its id finds, and nobody looks after. */
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
    if (this.#parsed.size === mostParsed) this.#parsed.clear()
    if (record !== null && kept!.length <= longestParsed) this.#parsed.set(field, { kept, record })
    return record
  }

  async list(account: string, { offset, limit }: Page): Promise<Listing<T>> {
    const from = [this.#home, keys.order(this.#traits.kind, account)]
    const found = await this.#connection.script(listRecords, from, [offset, limit, account])
    const [total, items] = found as [number, string[]]
    return { total, items: items.map(text => parse<T>(text)!.record) }
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

  constructor(connection: Connection, writes: DurableWrites, clock: Clock) {
    super(tokenTraits, connection, writes, clock)
    this.#connection = connection
  }

  async findByDigest(digest: string): Promise<Token | null> {
    const found = await this.#connection.script(findToken, [keys.digests, keys.records('token')], [digest])
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
