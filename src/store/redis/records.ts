// Gateways and tokens in Redis: what both have in common, and how a digest finds a token. redis-store.ts opens them.
import type { Gateway, Token } from '../records.ts'
import type { Listing, Page, Records, Tokens, Versioned } from '../store.ts'
import type { Argument } from './connect.ts'
import type { Connection } from './connection.ts'
import type { DurableWrites } from './durability.ts'
import { changeChannel, keys, type RecordKind } from './keys.ts'
import {
  findToken,
  insertRecord,
  listRecords,
  recordKeys,
  removeRecord,
  replaceRecord,
} from './record-scripts.ts'
import type { Script } from './script.ts'

/** What scripts must know of a record. */
export interface Traits<T> {
  readonly kind: RecordKind
  readonly createdAt: (record: T) => number
  /** What finds it beside its id; - for nothing. */
  readonly digest: (record: T) => string
}

type Kept = string | null

export const gatewayTraits: Traits<Gateway> = {
  kind: 'gateway',
  createdAt: gateway => gateway.createdAt,
  digest: () => '-',
}

export const tokenTraits: Traits<Token> = {
  kind: 'token',
  createdAt: token => token.issuedOn,
  digest: token => token.digest,
}

export class RedisRecords<T extends Gateway | Token> implements Records<T> {
  readonly #traits: Traits<T>
  readonly #connection: Connection
  readonly #writes: DurableWrites

  constructor(traits: Traits<T>, connection: Connection, writes: DurableWrites) {
    this.#traits = traits
    this.#connection = connection
    this.#writes = writes
  }

  async get(account: string, id: string): Promise<Versioned<T> | null> {
    return parse<T>((await this.#connection.run(['HGET', this.#home, `${account}/${id}`])) as Kept)
  }

  async list(account: string, { offset, limit }: Page): Promise<Listing<T>> {
    const from = [this.#home, keys.order(this.#traits.kind, account)]
    const found = await this.#connection.script(listRecords, from, [offset, limit, account])
    const [total, items] = found as [number, string[]]
    return { total, items: items.map(text => parse<T>(text)!.record) }
  }

  insert(record: T): Promise<boolean> {
    return this.#write(insertRecord, record.account, [
      ...this.#describe(record),
      this.#traits.createdAt(record),
    ])
  }

  replace(record: T, version: number): Promise<boolean> {
    return this.#write(replaceRecord, record.account, [...this.#describe(record), version])
  }

  remove(account: string, id: string): Promise<boolean> {
    return this.#write(removeRecord, account, [account, id])
  }

  get #home(): string {
    return keys.records(this.#traits.kind)
  }

  #describe(record: T): readonly string[] {
    return [record.account, record.id, this.#traits.digest(record), JSON.stringify(record)]
  }

  async #write(script: Script, account: string, args: readonly Argument[]): Promise<boolean> {
    const { kind } = this.#traits
    return (await this.#writes.run(script, recordKeys(kind, account), [changeChannel, kind, ...args])) === 1
  }
}

export class RedisTokens extends RedisRecords<Token> implements Tokens {
  readonly #connection: Connection

  constructor(connection: Connection, writes: DurableWrites) {
    super(tokenTraits, connection, writes)
    this.#connection = connection
  }

  async findByDigest(digest: string): Promise<Token | null> {
    const found = await this.#connection.script(findToken, [keys.digests, keys.records('token')], [digest])
    return parse<Token>(found as Kept)?.record ?? null
  }
}

/** Reads what is kept as `version birth digest json`. */
function parse<T>(text: Kept): Versioned<T> | null {
  if (text === null) return null
  const [version] = text.split(' ', 1)
  const json = text.slice(text.indexOf(' {') + 1)
  return { record: JSON.parse(json), version: Number(version) }
}
