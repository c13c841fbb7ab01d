// Accounts in Redis: one hash, since they are few.

import type { Account } from '../records.ts'
import type { Accounts } from '../store.ts'
import type { Connection } from './server/connection.ts'
import type { DurableWrites } from './server/durability.ts'
import { keys } from './keys.ts'
import { lua } from './server/script.ts'

const insertOne = lua`return redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])`

export class RedisAccounts implements Accounts {
  readonly #connection: Connection
  readonly #writes: DurableWrites

  constructor(connection: Connection, writes: DurableWrites) {
    this.#connection = connection
    this.#writes = writes
  }

  async get(id: string): Promise<Account | null> {
    const found = (await this.#connection.run(['HGET', keys.accounts, id])) as string | null
    return found === null ? null : JSON.parse(found)
  }

  async list(): Promise<readonly Account[]> {
    const found = (await this.#connection.run(['HVALS', keys.accounts])) as string[]
    return found.map(text => JSON.parse(text) as Account).sort(byCreation)
  }

  async insert(account: Account): Promise<boolean> {
    return (await this.#writes.run(insertOne, [keys.accounts], [account.id, JSON.stringify(account)])) === 1
  }
}

function byCreation(a: Account, b: Account): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)
}
