// Authorization events in Redis: a list for each client, which ends with the last of them.

import type { Clock } from '../../base/clock.ts'
import { type AuthorizationEvent, eventJson, eventLife, mostEvents } from '../authorization-event.ts'
import type { AuthorizationEvents } from '../store.ts'
import { keys } from './keys.ts'
import { shiftOf } from './server/clock.ts'
import type { Connection } from './server/connection.ts'
import type { DurableWrites } from './server/durability.ts'
import { lua } from './server/script.ts'

/** KEYS: events. ARGV: json, index of the last that stays, ms until all go. */
const appendOne = lua`
redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], 0, ARGV[2])
redis.call('PEXPIREAT', KEYS[1], ARGV[3])
return 1`

/** KEYS: events. */
const removeAll = lua`return redis.call('DEL', KEYS[1])`

export class RedisAuthorizationEvents implements AuthorizationEvents {
  readonly #connection: Connection
  readonly #writes: DurableWrites
  readonly #clock: Clock

  constructor(connection: Connection, writes: DurableWrites, clock: Clock) {
    this.#connection = connection
    this.#writes = writes
    this.#clock = clock
  }

  async append(event: AuthorizationEvent): Promise<void> {
    const json = eventJson(event)
    const endsAt = Math.ceil(this.#clock.now()) + eventLife - shiftOf(this.#clock)
    await this.#writes.run(
      appendOne,
      [keys.authorizationEvents(event.client)],
      [json, mostEvents - 1, endsAt],
    )
  }

  async list(clientAccount: string, client: string): Promise<readonly AuthorizationEvent[]> {
    const found = await this.#connection.run(['LRANGE', keys.authorizationEvents(client), 0, -1])
    const oldest = this.#clock.now() - eventLife
    return (found as string[])
      .map(text => JSON.parse(text) as AuthorizationEvent)
      .filter(event => event.clientAccount === clientAccount && event.at > oldest)
  }

  async removeOf(client: string): Promise<void> {
    await this.#writes.run(removeAll, [keys.authorizationEvents(client)], [])
  }
}
