// Tallies in Redis: a hash for each slot of a scope, and a list for the occurrences of each name, all of
// which expire.

import type { Clock } from '../../../base/clock.ts'
import { nextTurn } from '../../../base/turns/turns.ts'
import type { Tallies } from '../../contract/store.ts'
import {
  endOfSlot,
  lastOf,
  maxOccurrences,
  type Occurrence,
  slotOf,
  type Tally,
  type TallyKind,
  tallyKinds,
  type TallySum,
} from '../../records/tally.ts'
import { keys } from '../server/keys.ts'
import { shiftOf } from '../server/clock.ts'
import type { Connection } from '../server/connection.ts'
import { lua } from '../server/script.ts'

/**
 * KEYS: slot, occurrences. ARGV: name, count, latest time, end of the slot, number of occurrences to keep,
 * their expiry, occurrences …
 */
const addOne = lua`
redis.call('HINCRBY', KEYS[1], 'n' .. ARGV[1], ARGV[2])
local last = redis.call('HGET', KEYS[1], 't' .. ARGV[1])
if not last or tonumber(last) < tonumber(ARGV[3]) then redis.call('HSET', KEYS[1], 't' .. ARGV[1], ARGV[3]) end
redis.call('PEXPIREAT', KEYS[1], ARGV[4])
for i = 7, #ARGV do redis.call('LPUSH', KEYS[2], ARGV[i]) end
if #ARGV > 6 then
  redis.call('LTRIM', KEYS[2], 0, ARGV[5] - 1)
  redis.call('PEXPIREAT', KEYS[2], ARGV[6])
end
return 1`

/** KEYS: slots. Returns for each its names and then, in the same order, values. */
const readAll = lua`
local replies = {}
for i = 1, #KEYS do replies[i] = {redis.call('HKEYS', KEYS[i]), redis.call('HVALS', KEYS[i])} end
return replies`

const slotsAtOnce = 3
const maxAtOnce = 200

export class RedisTallies implements Tallies {
  readonly #connection: Connection
  readonly #clock: Clock

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection
    this.#clock = clock
  }

  async add(tallies: readonly Tally[]): Promise<void> {
    for (let from = 0; from < tallies.length; from += maxAtOnce)
      await Promise.all(tallies.slice(from, from + maxAtOnce).map(tally => this.#addOne(tally)))
  }

  async list(kind: TallyKind, scope: string, since: number): Promise<readonly TallySum[]> {
    const slots = slotsFrom(kind, since, this.#clock.now())
    const sums = new Map<string, { name: string; slots: [number, number][]; last: number }>()
    // Everything that arrives in one reply is parsed in one turn.
    for (let from = 0; from < slots.length; from += slotsAtOnce) {
      const some = slots.slice(from, from + slotsAtOnce)
      const homes = some.map(slot => keys.tallies(kind, scope, slot))
      const replies = (await this.#connection.script(readAll, homes, [])) as [string[], string[]][]
      await nextTurn()
      for (const [i, [names, values]] of replies.entries())
        for (const [at, field] of names.entries()) {
          const name = field.slice(1)
          const sum = sums.get(name) ?? { name, slots: [], last: 0 }
          sums.set(name, sum)
          const value = Number(values[at])
          if (field.startsWith('n')) sum.slots.push([some[i]!, value])
          else sum.last = Math.max(sum.last, value)
        }
    }
    return [...sums.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  }

  async occurrences(kind: TallyKind, scope: string, name: string): Promise<readonly Occurrence[]> {
    const texts = await this.#connection.run(['LRANGE', keys.occurrences(kind, scope, name), 0, -1])
    const oldest = this.#clock.now() - tallyKinds[kind].retention
    const occurrences = (texts as string[]).map(text => JSON.parse(text) as Occurrence)
    return lastOf(
      occurrences.filter(({ at }) => at > oldest),
      [],
    )
  }

  async #addOne({ kind, scope, name, slot, count, last, occurrences }: Tally): Promise<void> {
    const shift = shiftOf(this.#clock)
    const newestLast = lastOf(occurrences, []).toReversed()
    const endsAt = (newestLast.at(-1)?.at ?? 0) + tallyKinds[kind].retention
    await this.#connection.script(
      addOne,
      [keys.tallies(kind, scope, slot), keys.occurrences(kind, scope, name)],
      [
        ...[name, count, last, Math.ceil(endOfSlot(kind, slot) - shift)],
        ...[maxOccurrences, Math.ceil(endsAt - shift)],
        ...newestLast.map(occurrence => JSON.stringify(occurrence)),
      ],
    )
  }
}

function slotsFrom(kind: TallyKind, since: number, now: number): readonly number[] {
  const { slot, retention } = tallyKinds[kind]
  const last = slotOf(kind, now)
  const first = Math.max(slotOf(kind, now - retention), Math.ceil(since / slot) * slot)
  return Array.from(
    { length: Math.max(0, Math.round((last - first) / slot) + 1) },
    (_, i) => first + i * slot,
  )
}
