// Sealed answers in Redis, on the connection for bulk data. Several parts are written aside and published
// in one step, so that nobody reads half of an answer.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../base/clock.ts'
import { nextTurn } from '../../../base/turns/turns.ts'
import type { Answers } from '../../contract/answers.ts'
import {
  type AnswerBound,
  type AnswerBounds,
  type AnswerPlace,
  partCount,
  partsOf,
} from '../../answers/answer.ts'
import { shiftOf } from '../server/clock.ts'
import type { Connection } from '../server/connection.ts'
import { answerKeys, answerPart, keys } from '../server/keys.ts'
import {
  publishAnswer,
  readAnswer,
  removeAnswer,
  removeStep,
  sweepAnswers,
  trimAnswers,
} from './answer-scripts.ts'

/** Ms for which parts remain that are not published. */
const writeTime = 60_000

export class RedisAnswers implements Answers {
  readonly #records: Connection
  readonly #bulk: Connection
  readonly #clock: Clock

  constructor(records: Connection, bulk: Connection, clock: Clock) {
    this.#records = records
    this.#bulk = bulk
    this.#clock = clock
  }

  async read(place: AnswerPlace): Promise<Uint8Array | null> {
    const { account } = place
    const args = [shiftOf(this.#clock), memberOf(place)]
    const reply = await this.#bulk.scriptForBytes(readAnswer, answerKeys(account), args)
    if (reply === null) return null
    const [id, size, first] = reply as readonly [Buffer, Buffer, Buffer]
    const count = partCount(Number(size))
    if (count === 1) return first
    const home = answerPart(account, String(id))
    const parts = [first]
    for (let i = 1; i < count; i++) {
      const bytes = await this.#bulk.runForBytes(['HGET', home, i])
      // It was removed meanwhile.
      if (bytes === null) return null
      parts.push(bytes as Buffer)
    }
    return Buffer.concat(parts)
  }

  async write(
    place: AnswerPlace,
    sealed: Uint8Array,
    expiresAt: number,
    { answer, gateway: ofGateway, account: ofAccount, all }: AnswerBounds,
  ): Promise<boolean> {
    const { account, gateway } = place
    if (sealed.length > Math.min(answer, ofGateway.bytes, ofAccount.bytes, all.bytes)) return false
    const parts = partsOf(sealed).map(bufferOf)
    const id = parts.length === 1 ? '' : await this.#writeAside(account, parts)
    const published = await this.#bulk.script(publishAnswer, answerKeys(account), [
      ...[shiftOf(this.#clock), gateway, memberOf(place), id, sealed.length, expiresAt],
      ...[ofGateway.bytes, ofGateway.entries, ofAccount.bytes, ofAccount.entries],
      ...(id === '' ? parts : []),
    ])
    if (published === 2) {
      await this.#trim(account, gateway, ofGateway)
      await this.#trim(account, '', ofAccount)
    }
    return published !== 0
  }

  async remove(place: AnswerPlace): Promise<boolean> {
    return (await this.#bulk.script(removeAnswer, answerKeys(place.account), [memberOf(place)])) === 1
  }

  eraseGateway(account: string, gateway: string): Promise<void> {
    return this.#trim(account, gateway, nothing)
  }

  eraseAccount(account: string): Promise<void> {
    return this.#trim(account, '', nothing)
  }

  async sum(account: string, gateway?: string): Promise<AnswerBound> {
    const of = gateway === undefined ? '' : `:${gateway}`
    const [, , , sums] = answerKeys(account)
    const values = await this.#bulk.run(['HMGET', sums!, `bytes${of}`, `entries${of}`])
    const [bytes, entries] = (values as (string | null)[]).map(Number)
    return { bytes: bytes!, entries: entries! }
  }

  async total(): Promise<AnswerBound> {
    const total = { bytes: 0, entries: 0 }
    for (const account of await this.#accounts()) {
      const { bytes, entries } = await this.sum(account)
      total.bytes += bytes
      total.entries += entries
    }
    return total
  }

  async sweep(maxBytes: number): Promise<void> {
    const accounts = await this.#accounts()
    for (const account of accounts) {
      await this.#sweepExpired(account)
      for (const gateway of await this.#gatewaysOf(account))
        if (!(await this.#hasGateway(account, gateway))) await this.eraseGateway(account, gateway)
    }
    // Each account gives up the same part of what it has.
    const { bytes: total } = await this.total()
    if (total <= maxBytes) return
    for (const account of accounts) {
      const { bytes } = await this.sum(account)
      await this.#trim(account, '', {
        bytes: Math.floor((bytes * maxBytes) / total),
        entries: Number.MAX_SAFE_INTEGER,
      })
    }
  }

  /** Returns the id under which the parts are now. */
  async #writeAside(account: string, parts: readonly Buffer[]): Promise<string> {
    const id = randomBytes(12).toString('base64url')
    const home = answerPart(account, id)
    for (const [i, part] of parts.entries())
      await this.#bulk.runAll([
        ['HSET', home, i, part],
        ['PEXPIRE', home, writeTime],
      ])
    return id
  }

  async #trim(account: string, gateway: string, { bytes, entries }: AnswerBound): Promise<void> {
    const trim = () => this.#bulk.script(trimAnswers, answerKeys(account), [gateway, bytes, entries])
    while ((await trim()) === 1) await nextTurn()
  }

  async #sweepExpired(account: string): Promise<void> {
    const sweep = () => this.#bulk.script(sweepAnswers, answerKeys(account), [shiftOf(this.#clock)])
    while (Number(await sweep()) === removeStep) await nextTurn()
  }

  async #accounts(): Promise<readonly string[]> {
    return (await this.#records.run(['HKEYS', keys.accounts])) as string[]
  }

  async #gatewaysOf(account: string): Promise<readonly string[]> {
    const [, , , sums] = answerKeys(account)
    const fields = (await this.#bulk.run(['HKEYS', sums!])) as string[]
    const prefix = 'entries:'
    return fields.filter(field => field.startsWith(prefix)).map(field => field.slice(prefix.length))
  }

  async #hasGateway(account: string, gateway: string): Promise<boolean> {
    return (await this.#records.run(['HEXISTS', keys.records('gateway'), `${account}/${gateway}`])) === 1
  }
}

const nothing: AnswerBound = { bytes: 0, entries: 0 }

function memberOf({ gateway, key }: AnswerPlace): string {
  return `${gateway}/${key}`
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
