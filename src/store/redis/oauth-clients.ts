// OAuth clients in Redis: records, and their distribution to processes when they are due.

import type { Clock } from '../../base/clock.ts'
import { nextTurn } from '../../base/turns/turns.ts'
import { ClientMatches, isFound, type NamedClient } from '../contract/client-search.ts'
import type { ClientSearch, OAuthClient } from '../records/oauth-client.ts'
import type { Listing, OAuthClients, Page, Position, Versioned } from '../contract/store.ts'
import type { Reader } from './server/connection.ts'
import type { DurableWrites } from './server/durability.ts'
import { keys } from './server/keys.ts'
import { parse, RedisRecords, type Traits } from './records.ts'
import { lua, rankLua } from './server/script.ts'
import { serverClockLua, shiftOf } from './server/clock.ts'

const kind = 'oauth_client'

const traits: Traits<OAuthClient> = {
  kind,
  dueAt: client => client.verification?.nextCheckAt ?? null,
}

/** KEYS: accounts, records. ARGV: id. */
const findOne = lua`
for _, account in ipairs(redis.call('HKEYS', KEYS[1])) do
  local record = redis.call('HGET', KEYS[2], account .. '/' .. ARGV[1])
  if record then return record end
end
return false`

/** Limits of a search step: names, and characters of records after which it ends early. */
const searchStep = 500
const searchSize = 1024 * 1024

/**
 * Extracts names and words directly from the JSON of records, which costs a tenth of parsing it: a quote
 * within a text is preceded by a backslash, so that no text can look like a member. Names that are not plain
 * ASCII, or contain an escape, are left to the caller to compare. KEYS: records, order. ARGV: account, the
 * text in lower case, visibility or nothing, whether certain matches are only counted, and then time and id
 * of the preceding record, if any. Returns time and id of the last record, or nothing at the end; the number
 * counted; and time, id and name (as JSON without quotes) of each other one.
 */
const searchNames = lua`${rankLua}
local account, text, visibility, counts, time, id = unpack(ARGV)

local function nameIn(record)
  local _, from = string.find(record, '"name":"', 1, true)
  local to = from
  repeat
    to = string.find(record, '["\\\\]', to + 1)
    local isEscape = string.sub(record, to, to) == '\\\\'
    if isEscape then to = to + 1 end
  until not isEscape
  return string.sub(record, from + 1, to - 1)
end

local first = time and behind(KEYS[2], 'Z', time, id) or 0
local places = redis.call('ZRANGE', KEYS[2], first, first + ${String(searchStep - 1)}, 'WITHSCORES')
local matches, count, size = {}, 0, 0
for at = 1, #places, 2 do
  local record = redis.call('HGET', KEYS[1], account .. '/' .. places[at])
  if visibility == '' or string.find(record, '"visibility":"' .. visibility .. '"', 1, true) then
    local name = nameIn(record)
    local isSure = not string.find(name, '[\\128-\\255\\\\]')
    if not isSure or string.find(string.lower(name), text, 1, true) then
      if isSure and counts == '1' then count = count + 1
      else
        matches[#matches + 1] = places[at + 1]
        matches[#matches + 1] = places[at]
        matches[#matches + 1] = name
      end
    end
  end
  size = size + #record
  if size >= ${String(searchSize)} then return {places[at + 1], places[at], count, matches} end
end
if #places < ${String(2 * searchStep)} then return {'', '', count, matches} end
return {places[#places], places[#places - 1], count, matches}`

/** KEYS: due, records. ARGV: limit, lease, shift of the clock. */
const claim = lua`${serverClockLua}
local time, records = now(ARGV[3]), {}
for at, field in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', time, 'LIMIT', 0, ARGV[1])) do
  redis.call('ZADD', KEYS[1], time + ARGV[2], field)
  records[at] = redis.call('HGET', KEYS[2], field)
end
return records`

/**
 * KEYS: due, due times according to the records. ARGV: lease, shift of the clock, then the name and due time
 * of each record.
 */
const renew = lua`${serverClockLua}
local ends = now(ARGV[2]) + ARGV[1]
for at = 3, #ARGV, 2 do
  if redis.call('HGET', KEYS[2], ARGV[at]) == ARGV[at + 1] then redis.call('ZADD', KEYS[1], ends, ARGV[at]) end
end
return 1`

export class RedisOAuthClients extends RedisRecords<OAuthClient> implements OAuthClients {
  readonly #writes: DurableWrites
  readonly #clock: Clock

  constructor(connection: Reader, writes: DurableWrites, clock: Clock) {
    super(traits, connection, writes, clock)
    this.#writes = writes
    this.#clock = clock
  }

  async find(id: string): Promise<OAuthClient | null> {
    const text = await this.connection.script(findOne, [keys.accounts, keys.records(kind)], [id])
    if (text === null) await this.#writes.confirmAbsence()
    return parse<OAuthClient>(text as string | null)?.record ?? null
  }

  async search(account: string, search: ClientSearch, page: Page): Promise<Listing<OAuthClient>> {
    const matches = new ClientMatches(search, page)
    for (let from: Position | null | undefined = null; from !== undefined; ) {
      from = await this.#look(account, from, search, matches)
      await nextTurn()
    }
    const records = await this.some(account, matches.ids)
    // Others may have changed or removed some of them in the meantime.
    return { items: records.filter(client => isFound(client, search)), total: matches.total }
  }

  /** Doesn't wait for the disk: a lost lease costs only another check. */
  async claimDue(limit: number, lease: number): Promise<readonly Versioned<OAuthClient>[]> {
    const args = [limit, lease, shiftOf(this.#clock)]
    const texts = await this.connection.script(claim, [keys.due(kind), keys.records(kind)], args)
    return (texts as string[]).map(text => parse<OAuthClient>(text)!)
  }

  async renewLeases(clients: readonly OAuthClient[], lease: number): Promise<void> {
    const due = clients.flatMap(({ account, id, verification }) => [
      `${account}/${id}`,
      verification?.nextCheckAt ?? '',
    ])
    await this.connection.script(
      renew,
      [keys.due(kind), keys.dueOf(kind)],
      [lease, shiftOf(this.#clock), ...due],
    )
  }

  /** Searches one step of names after a position; returns the start of the next step, if any. */
  async #look(account: string, from: Position | null, { visibility }: ClientSearch, matches: ClientMatches) {
    const homes = [keys.records(kind), keys.order(kind, account)]
    const place = from === null ? [] : [from.at, from.id]
    const args = [account, matches.text, visibility ?? '', matches.isFull ? 1 : 0, ...place]
    const reply = await this.connection.script(searchNames, homes, args)
    const [at, id, count, parts] = reply as [string, string, number, string[]]
    matches.count(count)
    matches.add(Array.from({ length: parts.length / 3 }, (_, i) => namedBy(parts.slice(3 * i, 3 * i + 3))))
    return id === '' ? undefined : { at: Number(at), id }
  }
}

function namedBy([at, id, name]: readonly string[]): NamedClient {
  return { at: Number(at), id: id!, name: name!.includes('\\') ? JSON.parse(`"${name}"`) : name! }
}
