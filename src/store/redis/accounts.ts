// Accounts in Redis: one hash, since they are few.

import type { Clock } from '../../base/clock.ts'
import type { Account } from '../records/records.ts'
import type { Accounts, AccountSettings, Beginning, Together } from '../contract/store.ts'
import type { Reader } from './server/connection.ts'
import type { DurableWrites } from './server/durability.ts'
import { changeChannel, keys } from './server/keys.ts'
import { insertAccount, recordKeys, stampLua } from './record-scripts.ts'
import { togetherArguments, togetherCount, togetherKeys, togetherLua } from './companion-writes.ts'
import { lua } from './server/script.ts'

const insertOne = lua`return redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])`

/**
 * KEYS: version, changes, accounts, those of the companion writes, mark. ARGV: those of the companion writes,
 * channel, id, JSON that was read, new JSON. Returns -1 if the stored JSON is no longer the one that was
 * read.
 */
const updateOne = lua`${stampLua}${togetherLua(3)}
local channel, id, old, json = unpack(ARGV, ${String(togetherCount + 1)})
if responded() then return 0 end
if redis.call('HGET', KEYS[3], id) ~= old then return -1 end
redis.call('HSET', KEYS[3], id, json)
tell(channel, stamp(), 'account', id, id)
accompany()
return 1`

export class RedisAccounts implements Accounts {
  readonly #connection: Reader
  readonly #writes: DurableWrites
  readonly #clock: Clock
  /** The oldest account, and the number of accounts when it was read. */
  #oldest: { readonly id: string; readonly of: number } | null = null

  constructor(connection: Reader, writes: DurableWrites, clock: Clock) {
    this.#connection = connection
    this.#writes = writes
    this.#clock = clock
  }

  async get(id: string): Promise<Account | null> {
    const text = await this.#read(id)
    return text === null ? null : JSON.parse(text)
  }

  async list(): Promise<readonly Account[]> {
    const texts = (await this.#connection.run(['HVALS', keys.accounts])) as string[]
    return texts.map(text => JSON.parse(text) as Account).sort(byCreation)
  }

  async oldest(): Promise<string | null> {
    const count = (await this.#connection.run(['HLEN', keys.accounts])) as number
    if (this.#oldest?.of === count) return this.#oldest.id
    // Accounts are neither removed nor redated: an unchanged number means that none was added.
    const all = await this.list()
    this.#oldest = all.length === 0 ? null : { id: all[0]!.id, of: all.length }
    return this.#oldest?.id ?? null
  }

  async insert(account: Account, beginning?: Beginning): Promise<boolean> {
    const { id } = account
    const json = JSON.stringify(changed(account, {}))
    if (!beginning) return (await this.#writes.run(insertOne, [keys.accounts], [id, json])) === 1
    const { gateway, audit } = beginning
    const homes = [
      ...[...recordKeys('gateway', id).slice(0, 5), keys.accounts],
      ...[...togetherKeys(id, { audit }), keys.mark],
    ]
    const args = [
      ...togetherArguments({ audit }, this.#clock),
      ...[changeChannel, id, json, gateway.id, JSON.stringify(gateway), gateway.createdAt],
    ]
    return (await this.#writes.run(insertAccount, homes, args)) === 1
  }

  async update(id: string, settings: AccountSettings, together: Together = {}): Promise<boolean> {
    const homes = [keys.version, keys.changes, keys.accounts, ...togetherKeys(id, together), keys.mark]
    const more = togetherArguments(together, this.#clock)
    for (;;) {
      const old = await this.#read(id)
      if (old === null) return false
      const json = JSON.stringify(changed(JSON.parse(old), settings))
      const outcome = await this.#writes.run(updateOne, homes, [...more, changeChannel, id, old, json])
      if (outcome !== -1) return outcome === 1
    }
  }

  async #read(id: string): Promise<string | null> {
    return (await this.#connection.run(['HGET', keys.accounts, id])) as string | null
  }
}

function changed(account: Account, settings: AccountSettings): Account {
  const { enforceTwoFactor: enforced = false, allowsDocumentClients: allowed = false, ...rest } = account
  const { name = account.name, enforceTwoFactor = enforced, allowsDocumentClients = allowed } = settings
  return {
    ...rest,
    name,
    ...(enforceTwoFactor && { enforceTwoFactor }),
    ...(allowsDocumentClients && { allowsDocumentClients }),
  }
}

function byCreation(a: Account, b: Account): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)
}
