// The writes of records as scripts. A record is stored as `version birth marks json`: birth is its first
// version, and marks are the names and groups by which it can be found besides its id, or - for none.

import type { RecordKind } from '../contract/store.ts'
import { keys } from './server/keys.ts'
import { lua, rankLua, type Script } from './server/script.ts'
import { togetherCount, togetherLua } from './companion-writes.ts'

/** Stored changes; a reader further behind is told that everything may have changed. */
export const maxChanges = 1_000

const recordKeyCount = 17

/**
 * Returns the keys of one kind, in the order of the scripts; those of the companion writes follow, and the
 * mark is last. The last seven tie gateways to what is theirs.
 */
export function recordKeys(kind: RecordKind, account: string, id = ''): readonly string[] {
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
    keys.records(kind === 'gateway' ? 'model_route' : 'gateway'),
    keys.order('model_route', `${account}/${id}`),
    keys.names('model_route'),
    keys.records('policy_set'),
    keys.order('policy_set', `${account}/${id}`),
    keys.records('budget_alert_set'),
    keys.order('budget_alert_set', `${account}/${id}`),
  ]
}

// The mark of the store, which each change of a record raises, is the last key of such a script. Versions are
// the server's clock in µs, raised if it has not advanced: no number is used twice, even if a failover lost
// writes.
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
  redis.call('XADD', KEYS[2], 'MAXLEN', '${maxChanges}', version .. '-0', 'kind', kind, 'account', account, 'id', id)
  redis.pcall('PUBLISH', channel, '')
end
`

/** The marks of a kind are a unique name. */
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
 * The marks of a kind are separated by commas. Each is a unique name, a place in a group (prefix ~), or a
 * place in a group that must not lose its last one (prefix !). The places of a group end before the group
 * with 0, the character after /, instead of its last slash.
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

// An unchanged due time keeps the existing lease: the record may have just been claimed.
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

/** The owner of model routes, policies and budget alerts is the field of their gateway. */
const gatewayLua = `
local function lacksGateway()
  local isOfGateway = kind == 'model_route' or kind == 'policy_set' or kind == 'budget_alert_set'
  return isOfGateway and redis.call('HEXISTS', KEYS[11], account) == 0
end

local function removeRoutes()
  for _, route in ipairs(redis.call('ZRANGE', KEYS[12], 0, -1)) do
    local old = redis.call('HGET', KEYS[11], field .. '/' .. route)
    if old then redis.call('HDEL', KEYS[13], (string.match(old, '^%d+ %d+ (%S+) '))) end
    redis.call('HDEL', KEYS[11], field .. '/' .. route)
    redis.call('ZREM', KEYS[12], route)
  end
end

local function removeAll(records, order)
  for _, id in ipairs(redis.call('ZRANGE', order, 0, -1)) do
    redis.call('HDEL', records, field .. '/' .. id)
    redis.call('ZREM', order, id)
  end
end
`

/** The writes of one kind. Each returns 1, or 0 if nothing was written. */
export interface RecordScripts {
  /**
   * ARGV: those of the companion writes, channel, kind, account, id, marks, JSON, due time, time of creation.
   */
  readonly insert: Script
  /**
   * ARGV: those of the companion writes, channel, kind, account, id, marks, JSON, due time, version that was
   * read. Returns -1 if the record is the last one that a group must not lose.
   */
  readonly replace: Script
  /**
   * ARGV: those of the companion writes, channel, kind, account, id, three unused ones, version or nothing
   * for any. Returns -1 as `replace` does.
   */
  readonly remove: Script
}

function scriptsOf(marking: string): RecordScripts {
  const head = stampLua + marking + putLua + togetherLua(recordKeyCount) + planLua + gatewayLua
  return {
    insert: lua`${head}
if responded() or lacksGateway() or redis.call('HEXISTS', KEYS[4], field) == 1 or owned(marks, field) then return 0 end
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
if kind == 'gateway' then
  redis.call('ZADD', KEYS[6], version, field .. '/' .. birth)
  removeRoutes()
  removeAll(KEYS[14], KEYS[15])
  removeAll(KEYS[16], KEYS[17])
end
tell(channel, version, kind, account, id)
plan(field, '')
accompany()
return 1`,
  }
}

/** For kinds whose marks are one name, or none. */
export const plainScripts = scriptsOf(nameLua)

/** For kinds with several names, or places in groups: these need rights that the others do not. */
export const markedScripts = scriptsOf(marksLua)

/** The maximum size of one read of a list, in records and in characters, so that none delays other work. */
export const readStep = 200
const readSize = 64 * 1024

/**
 * KEYS: records, order. ARGV: account, Z or ZREV for the direction, offset, limit, and then time and id of
 * the preceding record, if any. Returns the total, whether it stopped early because of their size, and
 * records.
 */
export const listRecords = lua`${rankLua}
local account, way, offset, limit, time, id = unpack(ARGV)
local total = redis.call('ZCARD', KEYS[2])
local first = tonumber(offset) + (time and behind(KEYS[2], way, time, id) or 0)
local ids = tonumber(limit) > 0 and redis.call(way .. 'RANGE', KEYS[2], first, first + limit - 1) or {}
local items, size = {}, 0
for at, member in ipairs(ids) do
  items[at] = redis.call('HGET', KEYS[1], account .. '/' .. member)
  size = size + #items[at]
  if size >= ${String(readSize)} then return {total, 1, items} end
end
return {total, 0, items}`

/** KEYS: names, records. ARGV: name. */
export const findByName = lua`
local field = redis.call('HGET', KEYS[1], ARGV[1])
return field and redis.call('HGET', KEYS[2], field)`

/**
 * KEYS: groups, records. ARGV: group, the place after which the list begins, offset, limit. Returns the total
 * of the group, whether it stopped early because of their size, and records.
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

/** KEYS: records, last uses. ARGV: `account/id` and the time of use, for each. */
export const noteUses = lua`
for i = 1, #ARGV, 2 do
  local field, at = ARGV[i], ARGV[i + 1]
  local last = redis.call('HGET', KEYS[2], field)
  if (not last or tonumber(last) < tonumber(at)) and redis.call('HEXISTS', KEYS[1], field) == 1 then
    redis.call('HSET', KEYS[2], field, at)
  end
end
return 1`

/**
 * KEYS: the first three of tokens, the next two of gateways, of tokens and of token keys, accounts, mark.
 * ARGV: channel, account, its JSON; id, JSON and time of the gateway; the same of the token, with its digest;
 * the same of the token key, with its owner.
 */
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

/**
 * KEYS: the first five of gateways, accounts, those of the companion writes, mark. ARGV: those of the
 * companion writes, channel, account, its JSON, id and JSON of the gateway, its time. Returns 0 if the id is
 * taken.
 */
export const insertAccount = lua`${stampLua}${nameLua}${putLua}${togetherLua(6)}
local channel, account, json, gateway, gatewayJson, gatewayAt = unpack(ARGV, ${String(togetherCount + 1)})
if redis.call('HSETNX', KEYS[6], account, json) == 0 then return 0 end
redis.call('ZADD', KEYS[5], gatewayAt, gateway)
put(channel, 'gateway', KEYS[4], account, gateway, '-', gatewayJson)
accompany()
return 1`
