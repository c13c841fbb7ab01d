// Records in Redis: what all kinds have in common, and finding a record by a name.

import type { Clock } from '../../base/clock.ts'
import type { Token, TokenUse } from '../records/records.ts'
import { nextTurn } from '../../base/turns/turns.ts'
import {
  LastSuperAdministrator,
  type Listing,
  type Page,
  type Position,
  type RecordKind,
  type Records,
  type Together,
  type Tokens,
  type Versioned,
  type WalkStart,
} from '../contract/store.ts'
import type { Argument } from './server/connect.ts'
import type { Reader } from './server/connection.ts'
import type { DurableWrites } from './server/durability.ts'
import { changeChannel, keys } from './server/keys.ts'
import {
  findByName,
  listGroup,
  listRecords,
  markedScripts,
  noteUses,
  plainScripts,
  readStep,
  recordKeys,
  type RecordScripts,
} from './record-scripts.ts'
import type { Script } from './server/script.ts'
import { togetherArguments, togetherKeys } from './companion-writes.ts'

export interface Traits<T> {
  readonly kind: RecordKind
  /** The record's `createdAt` by default. */
  readonly createdAt?: (record: T) => number
  /** Its names and groups besides the id; absent for none. */
  readonly marks?: (record: T) => string
  readonly isMarked?: boolean
  /** When it is due for processing; null or absent for never. */
  readonly dueAt?: (record: T) => number | null
}

const maxParsed = 1_000
/** Longer texts are not kept for comparison. */
const maxParsedLength = 64 * 1024
const longRecord = 256 * 1024

type StoredText = string | null

export class RedisRecords<T extends { readonly account: string; readonly id: string }> implements Records<T> {
  readonly #traits: Traits<T>
  readonly #scripts: RecordScripts
  /** The last records that were read: an unchanged text need not be parsed again. */
  readonly #parsed = new Map<string, { readonly text: StoredText; readonly record: Versioned<T> }>()
  protected readonly connection: Reader
  readonly #writes: DurableWrites
  readonly #clock: Clock

  constructor(traits: Traits<T>, connection: Reader, writes: DurableWrites, clock: Clock) {
    this.#traits = traits
    this.#scripts = traits.isMarked ? markedScripts : plainScripts
    this.connection = connection
    this.#writes = writes
    this.#clock = clock
  }

  async get(account: string, id: string): Promise<Versioned<T> | null> {
    const field = `${account}/${id}`
    const text = (await this.connection.run(['HGET', this.#home, field])) as StoredText
    const before = this.#parsed.get(field)
    if (before !== undefined && before.text === text) return before.record
    // Receives a long record in one step, and parses it in another.
    if (text !== null && text.length > longRecord) await nextTurn()
    const record = parse<T>(text)
    if (record === null) await this.#writes.confirmAbsence()
    if (this.#parsed.size === maxParsed) this.#parsed.clear()
    if (record !== null && text!.length <= maxParsedLength) this.#parsed.set(field, { text, record })
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
    const args = [...this.#describe(record), this.#placeOf(record).at]
    return this.#write(this.#scripts.insert, record.account, args, together)
  }

  replace(record: T, version: number, together?: Together): Promise<boolean> {
    return this.#write(this.#scripts.replace, record.account, [...this.#describe(record), version], together)
  }

  remove(account: string, id: string, together?: Together, version?: number): Promise<boolean> {
    return this.#write(this.#scripts.remove, account, [account, id, '-', '', '', version ?? ''], together)
  }

  async #look(account: string, { offset, limit, after = null }: Page, descending = false) {
    const homes = [this.#home, keys.order(this.#traits.kind, account)]
    const place = after === null ? [] : [after.at, after.id]
    const args = [account, descending ? 'ZREV' : 'Z', offset, limit, ...place]
    const reply = await this.connection.script(listRecords, homes, args)
    const [total, isCut, texts] = reply as [number, number, string[]]
    return { total, isCut: isCut === 1, records: texts.map(text => parse<T>(text)!.record) }
  }

  #placeOf(record: T): Position {
    const at = this.#traits.createdAt?.(record) ?? (record as { createdAt?: number }).createdAt!
    return { at, id: record.id }
  }

  get #home(): string {
    return keys.records(this.#traits.kind)
  }

  #describe(record: T): readonly Argument[] {
    const { marks, dueAt } = this.#traits
    const { account, id } = record
    return [account, id, marks?.(record) ?? '-', JSON.stringify(record), dueAt?.(record) ?? '']
  }

  async #write(
    script: Script,
    account: string,
    args: readonly Argument[],
    together: Together = {},
  ): Promise<boolean> {
    const { kind } = this.#traits
    const id = String(args[1])
    const homes = [...recordKeys(kind, account, id), ...togetherKeys(account, together), keys.mark]
    const more = togetherArguments(together, this.#clock)
    const outcome = await this.#writes.run(script, homes, [...more, changeChannel, kind, ...args])
    if (outcome === -1) throw new LastSuperAdministrator()
    return outcome === 1
  }

  protected async some(account: string, ids: readonly string[]): Promise<readonly T[]> {
    const records: T[] = []
    for (let from = 0; from < ids.length; from += readStep) {
      const fields = ids.slice(from, from + readStep).map(id => `${account}/${id}`)
      const texts = (await this.connection.run(['HMGET', this.#home, ...fields])) as StoredText[]
      if (texts.includes(null)) await this.#writes.confirmAbsence()
      for (const text of texts) if (text !== null) records.push(parse<T>(text)!.record)
      await nextTurn()
    }
    return records
  }

  protected async findByName(name: string): Promise<Versioned<T> | null> {
    const { kind } = this.#traits
    const text = await this.connection.script(findByName, [keys.names(kind), keys.records(kind)], [name])
    if (text === null) await this.#writes.confirmAbsence()
    return parse<T>(text as StoredText)
  }

  protected async listGroup(group: string, { offset, limit, after = null }: Page): Promise<Listing<T>> {
    const { kind } = this.#traits
    const homes = [keys.groups(kind), keys.records(kind)]
    const items: T[] = []
    let from = after === null ? `[${group}/` : behind(group, after)
    for (let skipped = offset; ; skipped = 0) {
      const count = Math.min(limit - items.length, readStep)
      const reply = await this.connection.script(listGroup, homes, [group, from, skipped, count])
      const [total, isCut, texts] = reply as [number, number, string[]]
      for (const text of texts) items.push(parse<T>(text)!.record)
      if (items.length >= limit || (texts.length < count && isCut === 0)) return { total, items }
      from = behind(group, this.#placeOf(items.at(-1)!))
      await nextTurn()
    }
  }
}

export function placeIn(
  group: string,
  createdAt: number,
  { account, id }: { account: string; id: string },
): string {
  return `${group}/${sortable(createdAt)}/${id}/${account}`
}

/** Returns the start of what follows a position in a group. */
function behind(group: string, { at, id }: Position): string {
  return `(${group}/${sortable(at)}/${id}/~`
}

function sortable(at: number): string {
  return String(Math.floor(at)).padStart(16, '0')
}

const traits: Traits<Token> = {
  kind: 'token',
  createdAt: token => token.issuedOn,
  marks: token => token.digest,
}

export class RedisTokens extends RedisRecords<Token> implements Tokens {
  constructor(connection: Reader, writes: DurableWrites, clock: Clock) {
    super(traits, connection, writes, clock)
  }

  async findByDigest(digest: string): Promise<Token | null> {
    return (await this.findByName(digest))?.record ?? null
  }

  async noteUses(uses: readonly TokenUse[]): Promise<void> {
    const homes = [keys.records('token'), keys.uses('token')]
    for (let from = 0; from < uses.length; from += readStep) {
      const some = uses.slice(from, from + readStep)
      const args = some.flatMap(({ account, id, at }) => [`${account}/${id}`, at])
      await this.connection.script(noteUses, homes, args)
    }
  }

  async lastUses(account: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const uses = new Map<string, number>()
    for (let from = 0; from < ids.length; from += readStep) {
      const some = ids.slice(from, from + readStep)
      const fields = some.map(id => `${account}/${id}`)
      const times = (await this.connection.run(['HMGET', keys.uses('token'), ...fields])) as (string | null)[]
      for (const [i, at] of times.entries()) if (at !== null) uses.set(some[i]!, Number(at))
    }
    return uses
  }
}

export function parse<T>(text: StoredText): Versioned<T> | null {
  if (text === null) return null
  const [version] = text.split(' ', 1)
  const json = text.slice(text.indexOf(' {') + 1)
  return { record: JSON.parse(json), version: Number(version) }
}
