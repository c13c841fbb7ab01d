// Stored responses to requests with an Idempotency-Key in Redis: one key each, which expires.

import type { Clock } from '../../base/clock.ts'
import type { StoredResponse } from '../records/records.ts'
import type { StoredResponses } from '../contract/store.ts'
import type { Reader } from './server/connection.ts'
import type { DurableWrites } from './server/durability.ts'
import { keys } from './server/keys.ts'

export class RedisResponses implements StoredResponses {
  readonly #connection: Reader
  readonly #writes: DurableWrites
  readonly #clock: Clock

  constructor(connection: Reader, writes: DurableWrites, clock: Clock) {
    this.#connection = connection
    this.#writes = writes
    this.#clock = clock
  }

  async get(account: string, key: string): Promise<StoredResponse | null> {
    const text = (await this.#connection.run(['GET', keys.response(account, key)])) as string | null
    if (text === null) return null
    // The caller takes the request as completed, but its write may be unconfirmed.
    await this.#writes.confirm()
    const response: StoredResponse = JSON.parse(text.slice(text.indexOf(' ') + 1))
    return response.expiresAt > this.#clock.now() ? response : null
  }
}
