// The published data of each machine, in one hash by name. Each value has its own expiry; expired ones are
// removed by the next write.

import type { Clock } from '../../base/clock.ts'
import type { Peers } from '../contract/store.ts'
import { keys } from './server/keys.ts'
import { serverClockLua, shiftOf } from './server/clock.ts'
import type { Connection } from './server/connection.ts'
import { lua } from './server/script.ts'

/** KEYS: peers. ARGV: shift of the clock, name, lifetime in ms, data. Returns names and data, alternating. */
const exchange = lua`${serverClockLua}
local time, entries = now(ARGV[1]), {}
redis.call('HSET', KEYS[1], ARGV[2], string.format('%.0f', time + ARGV[3]) .. ' ' .. ARGV[4])
local names, values = redis.call('HKEYS', KEYS[1]), redis.call('HVALS', KEYS[1])
for at, name in ipairs(names) do
  local ends, words = string.match(values[at], '^(%d+) (.*)$')
  if ends and tonumber(ends) > time then
    entries[#entries + 1] = name
    entries[#entries + 1] = words
  else
    redis.call('HDEL', KEYS[1], name)
  end
end
return entries`

export class RedisPeers implements Peers {
  readonly #connection: Connection
  readonly #clock: Clock

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection
    this.#clock = clock
  }

  async exchange(name: string, words: string, lifetime: number): Promise<ReadonlyMap<string, string>> {
    const args = [shiftOf(this.#clock), name, lifetime, words]
    const entries = (await this.#connection.script(exchange, [keys.peers], args)) as string[]
    return new Map(entries.flatMap((name, at) => (at % 2 === 0 ? [[name, entries[at + 1]!] as const] : [])))
  }
}
