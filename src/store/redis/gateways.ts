// AI gateways in Redis: records that can be searched by a part of their id.

import type { Clock } from '../../base/clock.ts'
import { nextTurn } from '../../base/turns/turns.ts'
import { ClientMatches } from '../contract/client-search.ts'
import type { Gateway } from '../records/records.ts'
import type { Answers } from '../contract/answers.ts'
import type { Gateways, Listing, Page, Together } from '../contract/store.ts'
import { keys } from './server/keys.ts'
import { RedisRecords } from './records.ts'
import type { Reader } from './server/connection.ts'
import type { DurableWrites } from './server/durability.ts'
import { lua, rankLua } from './server/script.ts'

const kind = 'gateway'

const searchStep = 1_000

/**
 * KEYS: order. ARGV: the text, and then time and id of the preceding record, if any. Returns time and id of
 * the last record, or nothing at the end, and of those that contain the text.
 */
const searchIds = lua`${rankLua}
local text, time, id = unpack(ARGV)
local first = time and behind(KEYS[1], 'Z', time, id) or 0
local places, matches = redis.call('ZRANGE', KEYS[1], first, first + ${String(searchStep - 1)}, 'WITHSCORES'), {}
for at = 1, #places, 2 do
  if string.find(places[at], text, 1, true) then
    matches[#matches + 1] = places[at + 1]
    matches[#matches + 1] = places[at]
  end
end
if #places < ${String(2 * searchStep)} then return {'', '', matches} end
return {places[#places], places[#places - 1], matches}`

export class RedisGateways extends RedisRecords<Gateway> implements Gateways {
  readonly #answers: Pick<Answers, 'eraseGateway'>

  constructor(
    answers: Pick<Answers, 'eraseGateway'>,
    connection: Reader,
    writes: DurableWrites,
    clock: Clock,
  ) {
    super({ kind }, connection, writes, clock)
    this.#answers = answers
  }

  async search(account: string, text: string, page: Page): Promise<Listing<Gateway>> {
    const matches = new ClientMatches({ name: text, visibility: null }, page)
    for (let place: readonly string[] | null = []; place !== null; ) {
      const args: readonly string[] = [matches.text, ...place]
      const reply = await this.connection.script(searchIds, [keys.order(kind, account)], args)
      const [at, id, some] = reply as [string, string, string[]]
      for (let i = 0; i < some.length; i += 2)
        matches.add([{ at: Number(some[i]), id: some[i + 1]!, name: some[i + 1]! }])
      place = id === '' ? null : [at, id]
      await nextTurn()
    }
    return { items: await this.some(account, matches.ids), total: matches.total }
  }

  override async remove(
    account: string,
    id: string,
    together?: Together,
    version?: number,
  ): Promise<boolean> {
    const isRemoved = await super.remove(account, id, together, version)
    // What is left after a failure, a sweep removes.
    if (isRemoved) this.#answers.eraseGateway(account, id).catch(ignore)
    return isRemoved
  }
}

function ignore(): void {}
