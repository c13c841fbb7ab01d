// The writes of records as scripts. A record is kept as `version birth marks json`: birth is its first version, and marks are by what it is found beside its id,
// - where that is nothing.

import type { RecordKind } from '../contract/store.ts'
import { keys } from './server/keys.ts'
import { lua, rankLua, type Script } from './server/script.ts'
import { togetherCount, togetherLua } from './companion-writes.ts'

/** The most changes that are kept to be read; who is further behind is told that everything may have changed. */
export const mostChanges = 1_000

/** How many keys one kind has. */
const recordKeyCount = 10

/** Returns the keys of one kind, in the order in which the scripts take them; those of what goes with a record come behind, and the mark last. */
export function recordKeys(kind: RecordKind, account: string): readonly string[] {
  return [
    keys.version,
    keys.changes,
    keys.names(kind),
    keys.records(kind),
    keys.order(kind, account),
    keys.graves,
    keys.due(kind),
    keys.dueOf(kind),
    keys.groups(kind),
    keys.uses(kind),
  ]
}

// The mark of the store, which each change of a record raises, is the last key of such a script. Versions are µs of the server's clock, raised where it stands still: no number comes twice, not even where a failover lost writes.
export const stampLua = `
local function stamp()
  local time = redis.call('TIME')
  local last = tonumber(redis.call('GET', KEYS[1]) or '0')
  local version = string.format('%.0f', math.max(time[1] * 1000000 + time[2], last + 1))
  redis.call('SET', KEYS[1], version)
  return version
end

local function raise(version)
  local identity, generation = string.match(redis.call('GET', KEYS[#KEYS]) or '', '^(%S+) (%d+) ')
  local next = string.format('%.0f', (tonumber(generation) or 0) + 1)
  redis.call('SET', KEYS[#KEYS], (identity or '-') .. ' ' .. next .. ' ' .. version)
end

local function tell(channel, version, kind, account, id)
  if kind ~= 'credential' then raise(version) end
  redis.call('XADD', KEYS[2], 'MAXLEN', '${mostChanges}', version .. '-0', 'kind', kind, 'account', account, 'id', id)
  redis.pcall('PUBLISH', channel, '')
end
`

/** The marks of a kind are a name that is of one record only. */
const nameLua = `
local function owned(name, field)
  local owner = name ~= '-' and redis.call('HGET', KEYS[3], name)
  return owner and owner ~= field
end

local function mark(name, field)
  if name ~= '-' then redis.call('HSET', KEYS[3], name, field) end
end

local function unmark(name)
  redis.call('HDEL', KEYS[3], name)
end

local function isLast()
  return false
end
`

/**
 * The marks of a kind are names, behind ~ each a place in a group, and behind ! one in a group that must not lose its last; with commas between. The last place of
 * a group is between the group and what has a 0 for its last slash, the character behind that.
 */
const marksLua = `
local function owned(marks, field)
  for name in string.gmatch(marks, '[^,]+') do
    local owner = redis.call('HGET', KEYS[3], name)
    if owner and owner ~= field then return true end
  end
end

local function mark(marks, field)
  for way, rest in string.gmatch(marks, '([~!]?)([^,]+)') do
    if way == '' then redis.call('HSET', KEYS[3], rest, field)
    else redis.call('ZADD', KEYS[9], 0, rest) end
  end
end

local function unmark(marks)
  for way, rest in string.gmatch(marks, '([~!]?)([^,]+)') do
    if way == '' then redis.call('HDEL', KEYS[3], rest)
    else redis.call('ZREM', KEYS[9], rest) end
  end
end

local function isLast(old, new)
  for place in string.gmatch(old, '!([^,]+)') do
    local group = string.match(place, '^(.-)/[^/]*/[^/]*/[^/]*$')
    local stays = string.find(',' .. new .. ',', ',!' .. group .. '/', 1, true)
    if not stays and redis.call('ZLEXCOUNT', KEYS[9], '[' .. group .. '/', '(' .. group .. '0') == 1 then return true end
  end
end
`

const putLua = `
local function put(channel, kind, records, account, id, marks, json, birth)
  local field = account .. '/' .. id
  local version = stamp()
  mark(marks, field)
  redis.call('HSET', records, field, table.concat({version, birth or version, marks, json}, ' '))
  tell(channel, version, kind, account, id)
end
`

// A time that stays as it was leaves alone when the record may be given: it may just have been given to somebody.
const planLua = `
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

local channel, kind, account, id, marks, json, due, last = unpack(ARGV, ${togetherCount + 1})
local field = account .. '/' .. id
`

/** The writes of one kind. Each gives 1, or 0 when nothing was written. */
export interface RecordScripts {
  /** ARGV: those of what goes with it, channel, kind, account, id, marks, json, when it is due, time of creation. */
  readonly insert: Script
  /** ARGV: those of what goes with it, channel, kind, account, id, marks, json, when it is due, version that was read. Gives -1 where it is the last that a group must not lose. */
  readonly replace: Script
  /** ARGV: those of what goes with it, channel, kind, account, id, three that are not used, version or nothing for any. Gives -1 as `replace` does. */
  readonly remove: Script
}

function scriptsOf(marking: string): RecordScripts {
  const head = stampLua + marking + putLua + togetherLua(recordKeyCount) + planLua
  return {
    insert: lua`${head}
if responded() or redis.call('HEXISTS', KEYS[4], field) == 1 or owned(marks, field) then return 0 end
redis.call('ZADD', KEYS[5], last, id)
put(channel, kind, KEYS[4], account, id, marks, json)
plan(field, due)
accompany()
return 1`,
    replace: lua`${head}
local old = redis.call('HGET', KEYS[4], field)
if not old or responded() or owned(marks, field) then return 0 end
local oldVersion, birth, oldMarks = string.match(old, '^(%d+) (%d+) (%S+) ')
if oldVersion ~= last then return 0 end
if isLast(oldMarks, marks) then return -1 end
if oldMarks ~= marks then unmark(oldMarks) end
put(channel, kind, KEYS[4], account, id, marks, json, birth)
plan(field, due)
accompany()
return 1`,
    remove: lua`${head}
local old = redis.call('HGET', KEYS[4], field)
if not old or responded() then return 0 end
local oldVersion, birth, oldMarks = string.match(old, '^(%d+) (%d+) (%S+) ')
if last ~= '' and oldVersion ~= last then return 0 end
if isLast(oldMarks, '') then return -1 end
local version = stamp()
redis.call('HDEL', KEYS[4], field)
redis.call('HDEL', KEYS[10], field)
unmark(oldMarks)
redis.call('ZREM', KEYS[5], id)
if kind == 'gateway' then redis.call('ZADD', KEYS[6], version, field .. '/' .. birth) end
tell(channel, version, kind, account, id)
plan(field, '')
accompany()
return 1`,
  }
}

/** Of kinds whose marks are one name, or nothing. */
export const plainScripts = scriptsOf(nameLua)

/** Of kinds that have several names, or places in groups: they need rights that the others do without. */
export const markedScripts = scriptsOf(marksLua)

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

/** KEYS: names, records. ARGV: name. */
export const findByName = lua`
local field = redis.call('HGET', KEYS[1], ARGV[1])
return field and redis.call('HGET', KEYS[2], field)`

/**
 * KEYS: groups, records. ARGV: group, the place behind which the list begins, offset, limit. Gives how many the group has in all, whether it stopped for their size, and
 * records.
 */
export const listGroup = lua`
local group, from, offset, limit = unpack(ARGV)
local last = '(' .. group .. '0'
local total = redis.call('ZLEXCOUNT', KEYS[1], '[' .. group .. '/', last)
local places = tonumber(limit) > 0 and redis.call('ZRANGEBYLEX', KEYS[1], from, last, 'LIMIT', offset, limit) or {}
local items, size = {}, 0
for at, place in ipairs(places) do
  local id, account = string.match(place, '([^/]*)/([^/]*)$')
  items[at] = redis.call('HGET', KEYS[2], account .. '/' .. id)
  size = size + #items[at]
  if size >= ${String(readSize)} then return {total, 1, items} end
end
return {total, 0, items}`

/** KEYS: records, when they were last used. ARGV: `account/id` of a record and when it was used, of each. */
export const noteUses = lua`
for i = 1, #ARGV, 2 do
  local field, at = ARGV[i], ARGV[i + 1]
  local last = redis.call('HGET', KEYS[2], field)
  if (not last or tonumber(last) < tonumber(at)) and redis.call('HEXISTS', KEYS[1], field) == 1 then
    redis.call('HSET', KEYS[2], field, at)
  end
end
return 1`

/** KEYS: the first three of tokens, the two after these of gateways, of tokens and of token keys, accounts, mark. ARGV: channel, account, its json, id and json of the gateway, its time; the same with digest of the token; and with owner of the token key. */
export const insertFirst = lua`${stampLua}${nameLua}${putLua}
local channel, account, json, gateway, gatewayJson, gatewayAt, token, digest, tokenJson, tokenAt, owner, key, keyJson, keyAt = unpack(ARGV)
if redis.call('HLEN', KEYS[10]) > 0 then return 0 end
redis.call('HSET', KEYS[10], account, json)
redis.call('ZADD', KEYS[5], gatewayAt, gateway)
put(channel, 'gateway', KEYS[4], account, gateway, '-', gatewayJson)
redis.call('ZADD', KEYS[7], tokenAt, token)
put(channel, 'token', KEYS[6], account, token, digest, tokenJson)
redis.call('ZADD', KEYS[9], keyAt, key)
put(channel, 'token_key', KEYS[8], owner, key, '-', keyJson)
return 1`

/** KEYS: the first five of gateways, accounts, those of what goes with it, mark. ARGV: those of that, channel, account, its json, id and json of the gateway, its time. Gives 0 where the id is taken. */
export const insertAccount = lua`${stampLua}${nameLua}${putLua}${togetherLua(6)}
local channel, account, json, gateway, gatewayJson, gatewayAt = unpack(ARGV, ${String(togetherCount + 1)})
if redis.call('HSETNX', KEYS[6], account, json) == 0 then return 0 end
redis.call('ZADD', KEYS[5], gatewayAt, gateway)
put(channel, 'gateway', KEYS[4], account, gateway, '-', gatewayJson)
accompany()
return 1`
