// Authorization events in Redis: a list for each client, and one of its unproven events, which expires with
// the latest of them.

import type { Clock } from '../../base/clock.ts'
import {
  type AuthorizationEvent,
  eventJson,
  eventLife,
  maxEvents,
  maxOfUser,
  maxUnproven,
} from '../records/authorization-event.ts'
import type { AuthorizationEvents } from '../contract/store.ts'
import { keys } from './server/keys.ts'
import { shiftOf } from './server/clock.ts'
import type { Reader } from './server/connection.ts'
import type { DurableWrites } from './server/durability.ts'
import { lua } from './server/script.ts'

/**
 * KEYS: events. ARGV: JSON, index of the last event to keep, ms until all expire, the number of events to
 * keep per user and result, and the JSON fragments that identify that user and result, which no text within
 * an event can contain; empty for no user.
 */
const appendOne = lua`
local events, count = {}, 1
local all = ARGV[5] == '' and {} or redis.call('LRANGE', KEYS[1], 0, -1)
for _, text in ipairs(all) do
  local isSame = string.find(text, ARGV[5], 1, true) and string.find(text, ARGV[6], 1, true)
  if isSame then count = count + 1 end
  if not isSame or count <= tonumber(ARGV[4]) then table.insert(events, 1, text) end
end
if #events < #all then
  redis.call('DEL', KEYS[1])
  redis.call('LPUSH', KEYS[1], unpack(events))
end
redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], 0, ARGV[2])
redis.call('PEXPIREAT', KEYS[1], ARGV[3])
return 1`

/** KEYS: events, unproven events. */
const removeAll = lua`return redis.call('DEL', KEYS[1], KEYS[2])`

export class RedisAuthorizationEvents implements AuthorizationEvents {
  readonly #connection: Reader
  readonly #writes: DurableWrites
  readonly #clock: Clock

  constructor(connection: Reader, writes: DurableWrites, clock: Clock) {
    this.#connection = connection
    this.#writes = writes
    this.#clock = clock
  }

  async append(event: AuthorizationEvent): Promise<void> {
    const json = eventJson(event)
    const { client, user, result, isUnproven } = event
    const [ofUser, withResult] = user === null ? ['', ''] : [member({ user }), member({ result })]
    const endsAt = Math.ceil(this.#clock.now()) + eventLife - shiftOf(this.#clock)
    await this.#writes.run(
      appendOne,
      [isUnproven ? keys.unprovenEvents(client) : keys.authorizationEvents(client)],
      [json, (isUnproven ? maxUnproven : maxEvents) - 1, endsAt, maxOfUser, ofUser, withResult],
    )
  }

  async list(clientAccount: string, client: string): Promise<readonly AuthorizationEvent[]> {
    const lists = await Promise.all(
      partsOf(client).map(key => this.#connection.run(['LRANGE', key, 0, -1]) as Promise<string[]>),
    )
    const oldest = this.#clock.now() - eventLife
    return lists
      .flat()
      .map(text => JSON.parse(text) as AuthorizationEvent)
      .filter(event => event.clientAccount === clientAccount && event.at > oldest)
      .sort((one, other) => other.at - one.at)
  }

  async removeOf(client: string): Promise<void> {
    await this.#writes.run(removeAll, partsOf(client), [])
  }
}

function member(of: Readonly<Record<string, string>>): string {
  return JSON.stringify(of).slice(1, -1)
}

function partsOf(client: string): readonly string[] {
  return [keys.authorizationEvents(client), keys.unprovenEvents(client)]
}
