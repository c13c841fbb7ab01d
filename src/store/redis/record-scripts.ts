// The writes of records as scripts A record is kept as `version birth digest json`: birth is its first version, and - stands for no digest.

import type { RecordKind } from '../store.ts'
import { keys } from './keys.ts'
import { lua, rankLua } from './server/script.ts'
import { togetherCount, togetherLua } from './record-writes.ts'

/** The most changes that are kept to be read; who is further behind is told that everything may have changed. */
export const mostChanges = 1_000

/** Returns the keys of one kind, in the order in which the scripts take them; those of what goes with a record come behind. */
export function recordKeys(kind: RecordKind, account: string): readonly string[] {
  return [
    keys.version,
    keys.changes,
    keys.digests,
    keys.records(kind),
    keys.order(kind, account),
    keys.graves,
    keys.due(kind),
    keys.dueOf(kind),
  ]
}

// Versions are µs of the server's clock, raised where it stands still: no number comes twice, not even where a failover lost writes.
const basics = `
local function stamp()
  local time = redis.call('TIME')
  local last = tonumber(redis.call('GET', KEYS[1]) or '0')
  local version = string.format('%.0f', math.max(time[1] * 1000000 + time[2], last + 1))
  redis.call('SET', KEYS[1], version)
  return version
end

local function tell(channel, version, kind, account, id)
  redis.call('XADD', KEYS[2], 'MAXLEN', '${mostChanges}', version .. '-0', 'kind', kind, 'account', account, 'id', id)
  redis.pcall('PUBLISH', channel, '')
end

local function put(channel, kind, records, account, id, digest, json, birth)
  local field = account .. '/' .. id
  local version = stamp()
  if digest ~= '-' then redis.call('HSET', KEYS[3], digest, field) end
  redis.call('HSET', records, field, table.concat({version, birth or version, digest, json}, ' '))
  tell(channel, version, kind, account, id)
end

local function owned(digest, field)
  local owner = digest ~= '-' and redis.call('HGET', KEYS[3], digest)
  return owner and owner ~= field
end
`

// A time that stays as it was leaves alone when the record may be given: it may just have been given to somebody.
const alone = `${basics}${togetherLua}
local function plan(field, due)
  if due == (redis.call('HGET', KEYS[8], field) or '') then return end
  if due == '' then
    redis.call('ZREM', KEYS[7], field)
    redis.call('HDEL', KEYS[8], field)
  else
    redis.call('ZADD', KEYS[7], due, field)
    redis.call('HSET', KEYS[8], field, due)
  end
end

local channel, kind, account, id, digest, json, due, last = unpack(ARGV, ${togetherCount + 1})
local field = account .. '/' .. id
`

/** ARGV: those of what goes with it, channel, kind, account, id, digest, json, when it is due, time of creation. */
export const insertRecord = lua`${alone}
if answered() or redis.call('HEXISTS', KEYS[4], field) == 1 or owned(digest, field) then return 0 end
redis.call('ZADD', KEYS[5], last, id)
put(channel, kind, KEYS[4], account, id, digest, json)
plan(field, due)
accompany()
return 1`

/** ARGV: those of what goes with it, channel, kind, account, id, digest, json, when it is due, version that was read. */
export const replaceRecord = lua`${alone}
local old = redis.call('HGET', KEYS[4], field)
if not old or answered() or owned(digest, field) then return 0 end
local oldVersion, birth, oldDigest = string.match(old, '^(%d+) (%d+) (%S+) ')
if oldVersion ~= last then return 0 end
if oldDigest ~= digest then redis.call('HDEL', KEYS[3], oldDigest) end
put(channel, kind, KEYS[4], account, id, digest, json, birth)
plan(field, due)
accompany()
return 1`

/** ARGV: those of what goes with it, channel, kind, account, id, three that are not used, version or nothing for any. */
export const removeRecord = lua`${alone}
local old = redis.call('HGET', KEYS[4], field)
if not old or answered() then return 0 end
local oldVersion, birth, oldDigest = string.match(old, '^(%d+) (%d+) (%S+) ')
if last ~= '' and oldVersion ~= last then return 0 end
local version = stamp()
redis.call('HDEL', KEYS[4], field)
redis.call('HDEL', KEYS[3], oldDigest)
redis.call('ZREM', KEYS[5], id)
if kind == 'gateway' then redis.call('ZADD', KEYS[6], version, field .. '/' .. birth) end
tell(channel, version, kind, account, id)
plan(field, '')
accompany()
return 1`

/** What one look at a list reads at most, in records and in characters, so that none holds up others. */
export const readStep = 200
const readSize = 64 * 1024

/**
 * KEYS: records, order. ARGV: account, Z or ZREV for the direction, offset, limit, and then time and id of the record before, if any. Gives how many there are in
 * all, whether it stopped for their size, and records.
 */
export const listRecords = lua`${rankLua}
local account, way, offset, limit, time, id = unpack(ARGV)
local total = redis.call('ZCARD', KEYS[2])
local first = tonumber(offset) + (time and behind(KEYS[2], way, time, id) or 0)
local ids = tonumber(limit) > 0 and redis.call(way .. 'RANGE', KEYS[2], first, first + limit - 1) or {}
local items, size = {}, 0
for at, found in ipairs(ids) do
  items[at] = redis.call('HGET', KEYS[1], account .. '/' .. found)
  size = size + #items[at]
  if size >= ${String(readSize)} then return {total, 1, items} end
end
return {total, 0, items}`

/** KEYS: digests, tokens. ARGV: digest. */
export const findToken = lua`
local field = redis.call('HGET', KEYS[1], ARGV[1])
return field and redis.call('HGET', KEYS[2], field)`

/** KEYS: the first five of gateways, the last two of these of tokens, accounts. ARGV: channel, account, its json, id and json of the gateway, its time; the same with digest of the token. */
export const insertFirst = lua`${basics}
local channel, account, json, gateway, gatewayJson, gatewayAt, token, digest, tokenJson, tokenAt = unpack(ARGV)
if redis.call('HLEN', KEYS[8]) > 0 then return 0 end
redis.call('HSET', KEYS[8], account, json)
redis.call('ZADD', KEYS[5], gatewayAt, gateway)
put(channel, 'gateway', KEYS[4], account, gateway, '-', gatewayJson)
redis.call('ZADD', KEYS[7], tokenAt, token)
put(channel, 'token', KEYS[6], account, token, digest, tokenJson)
return 1`
