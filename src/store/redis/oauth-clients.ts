// OAuth clients in Redis: records, and how one of several processes gets those that are due.

import type { Clock } from '../../base/clock.ts'
import type { OAuthClient } from '../oauth-client.ts'
import type { OAuthClients, Versioned } from '../store.ts'
import type { Connection } from './server/connection.ts'
import type { DurableWrites } from './server/durability.ts'
import { keys } from './keys.ts'
import { parse, RedisRecords, type Traits } from './records.ts'
import { lua } from './server/script.ts'
import { serverClockLua, shiftOf } from './server/clock.ts'

const kind = 'oauth_client'

const traits: Traits<OAuthClient> = {
  kind,
  createdAt: client => client.createdAt,
  marks: () => '-',
  dueAt: client => client.verification?.nextCheckAt ?? null,
}

/** KEYS: accounts, records. ARGV: id. */
const findOne = lua`
for _, account in ipairs(redis.call('HKEYS', KEYS[1])) do
  local found = redis.call('HGET', KEYS[2], account .. '/' .. ARGV[1])
  if found then return found end
end
return false`

/** KEYS: due, records. ARGV: limit, lease, shift of the clock. */
const claim = lua`${serverClockLua}
local time, found = now(ARGV[3]), {}
for at, field in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', time, 'LIMIT', 0, ARGV[1])) do
  redis.call('ZADD', KEYS[1], time + ARGV[2], field)
  found[at] = redis.call('HGET', KEYS[2], field)
end
return found`

/** KEYS: due, times at which records say that they are due. ARGV: lease, shift of the clock, then of each record its name and that time. */
const renew = lua`${serverClockLua}
local ends = now(ARGV[2]) + ARGV[1]
for at = 3, #ARGV, 2 do
  if redis.call('HGET', KEYS[2], ARGV[at]) == ARGV[at + 1] then redis.call('ZADD', KEYS[1], ends, ARGV[at]) end
end
return 1`

export class RedisOAuthClients extends RedisRecords<OAuthClient> implements OAuthClients {
  readonly #connection: Connection
  readonly #writes: DurableWrites
  readonly #clock: Clock

  constructor(connection: Connection, writes: DurableWrites, clock: Clock) {
    super(traits, connection, writes, clock)
    this.#connection = connection
    this.#writes = writes
    this.#clock = clock
  }

  async find(id: string): Promise<OAuthClient | null> {
    const found = await this.#connection.script(findOne, [keys.accounts, keys.records(kind)], [id])
    if (found === null) await this.#writes.confirmAbsence()
    return parse<OAuthClient>(found as string | null)?.record ?? null
  }

  /** Doesn't wait for the disk: a lease that is lost means one more look. */
  async claimDue(limit: number, lease: number): Promise<readonly Versioned<OAuthClient>[]> {
    const args = [limit, lease, shiftOf(this.#clock)]
    const found = await this.#connection.script(claim, [keys.due(kind), keys.records(kind)], args)
    return (found as string[]).map(text => parse<OAuthClient>(text)!)
  }

  async renewLeases(clients: readonly OAuthClient[], lease: number): Promise<void> {
    const due = clients.flatMap(({ account, id, verification }) => [
      `${account}/${id}`,
      verification?.nextCheckAt ?? '',
    ])
    await this.#connection.script(
      renew,
      [keys.due(kind), keys.dueOf(kind)],
      [lease, shiftOf(this.#clock), ...due],
    )
  }
}
