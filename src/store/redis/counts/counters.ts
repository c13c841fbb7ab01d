// Counts in Redis, each with one key and one script, by the clock of the server.

import { bucketReach, bucketWidth } from '../../../base/sliding-window.ts'
import type { Clock } from '../../../base/clock.ts'
import type { CounterReply, CounterAsk, Counters } from '../../contract/store.ts'
import type { Connection } from '../server/connection.ts'
import { keys } from '../server/keys.ts'
import { lua } from '../server/script.ts'
import { serverClockLua, shiftOf } from '../server/clock.ts'

/**
 * Shorter windows, in ms, are not worth having all writers wait for the disk: they are written neither to the
 * append-only file nor to the replicas.
 */
const maxUnwritten = 3_600_000

export class RedisCounters implements Counters {
  readonly #connection: Connection
  readonly #clock: Clock

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection
    this.#clock = clock
  }

  get isUnreachable(): boolean {
    return this.#connection.isUnreachable
  }

  async spend({ key, window, limit, done, wanted }: CounterAsk): Promise<CounterReply> {
    const shift = shiftOf(this.#clock)
    const amounts = [limit, done, wanted]
    const answer =
      window.kind === 'sliding'
        ? this.#connection.script(
            spendSliding,
            [keys.slidingCount(key)],
            [
              shift,
              isUnwritten(window.period),
              ...amounts,
              bucketWidth(window.period),
              bucketReach(window.period),
            ],
          )
        : this.#connection.script(
            spendFixed,
            [keys.fixedCount(key, window.until)],
            [shift, isUnwritten(window.until - this.#clock.now()), ...amounts, window.until],
          )
    const [count, granted, wait] = (await answer) as [number, number, number]
    return { count, granted, wait }
  }
}

function isUnwritten(ms: number): number {
  return ms <= maxUnwritten ? 1 : 0
}

/**
 * The beginning of both scripts; ARGV: shift of the clock, whether the key is not written to disk, limit,
 * done, wanted.
 */
const amountsLua = `${serverClockLua}
local time = now(tonumber(ARGV[1]))
if ARGV[2] == '1' then pcall(redis.set_repl, redis.REPL_NONE) end
local limit, done, wanted = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local function granted(count) return math.max(0, math.min(wanted, limit - count - done)) end
`

/**
 * Further ARGV: width and reach of the buckets. The hash has the buckets by number, their sum in \`n\` and
 * the number of the oldest in \`o\`.
 */
const spendSliding = lua`${amountsLua}
local key, width, reach = KEYS[1], tonumber(ARGV[6]), tonumber(ARGV[7])
local current = math.floor(time / width)
local totals = redis.call('HMGET', key, 'n', 'o')
local count, oldest = tonumber(totals[1] or 0), math.min(tonumber(totals[2] or current), current)
local first = oldest
if oldest < current - 3 * reach then
  redis.call('DEL', key)
  count, oldest = 0, current
end
while oldest < current - reach do
  local gone = redis.call('HGET', key, oldest)
  if gone then
    count = count - gone
    redis.call('HDEL', key, oldest)
  end
  oldest = oldest + 1
end
local grant = granted(count)
if done + grant ~= 0 then
  count = count + done + grant
  redis.call('HINCRBY', key, current, done + grant)
  redis.call('HSET', key, 'n', count, 'o', oldest)
  redis.call('PEXPIRE', key, (reach + 2) * width)
elseif oldest ~= first then
  redis.call('HSET', key, 'n', count, 'o', oldest)
end
local wait, excess = 0, count + 1 - limit
while excess > 0 and oldest <= current do
  excess = excess - (redis.call('HGET', key, oldest) or 0)
  wait = (oldest + reach + 1) * width - time
  oldest = oldest + 1
end
return {count, grant, wait}`

/** Further ARGV: the end of the window. */
const spendFixed = lua`${amountsLua}
local key, ends = KEYS[1], tonumber(ARGV[6])
local count = tonumber(redis.call('GET', key) or 0)
local grant = granted(count)
if done + grant ~= 0 then
  count = redis.call('INCRBY', key, done + grant)
  redis.call('PEXPIRE', key, math.max(1, ends - time))
end
return {count, grant, count < limit and 0 or math.max(0, ends - time)}`
