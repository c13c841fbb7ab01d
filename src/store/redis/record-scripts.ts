// The writes of records as scripts; records.ts and redis-store.ts run them. A record is kept as
// `version birth digest json`: birth is its first version, and - stands for no digest.
import { type RecordKind, keys } from './keys.ts'
import { lua } from './script.ts'

/** The most changes that are kept to be read; who is further behind is told that everything may have changed. */
export const mostChanges = 1_000

/** The keys of one kind, in the order in which the scripts take them. */
export function recordKeys(kind: RecordKind, account: string): readonly string[] {
  return [
    keys.version,
    keys.changes,
    keys.digests,
    keys.records(kind),
    keys.order(kind, account),
    keys.graves,
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
  redis.call('PUBLISH', channel, '')
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

/** ARGV: channel, kind, account, id, digest, json, time of creation. */
export const insertRecord = lua`${basics}
local channel, kind, account, id, digest, json, created = unpack(ARGV)
local field = account .. '/' .. id
if redis.call('HEXISTS', KEYS[4], field) == 1 or owned(digest, field) then return 0 end
redis.call('ZADD', KEYS[5], created, id)
put(channel, kind, KEYS[4], account, id, digest, json)
return 1`

/** ARGV: channel, kind, account, id, digest, json, version that was read. */
export const replaceRecord = lua`${basics}
local channel, kind, account, id, digest, json, version = unpack(ARGV)
local field = account .. '/' .. id
local old = redis.call('HGET', KEYS[4], field)
if not old or owned(digest, field) then return 0 end
local oldVersion, birth, oldDigest = string.match(old, '^(%d+) (%d+) (%S+) ')
if oldVersion ~= version then return 0 end
if oldDigest ~= digest then redis.call('HDEL', KEYS[3], oldDigest) end
put(channel, kind, KEYS[4], account, id, digest, json, birth)
return 1`

/** ARGV: channel, kind, account, id. */
export const removeRecord = lua`${basics}
local channel, kind, account, id = unpack(ARGV)
local field = account .. '/' .. id
local old = redis.call('HGET', KEYS[4], field)
if not old then return 0 end
local birth, digest = string.match(old, '^%d+ (%d+) (%S+) ')
local version = stamp()
redis.call('HDEL', KEYS[4], field)
redis.call('HDEL', KEYS[3], digest)
redis.call('ZREM', KEYS[5], id)
if kind == 'gateway' then redis.call('ZADD', KEYS[6], version, field .. '/' .. birth) end
tell(channel, version, kind, account, id)
return 1`

/** KEYS: records, order. ARGV: offset, limit. */
export const listRecords = lua`
local total = redis.call('ZCARD', KEYS[2])
local first, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local ids = limit > 0 and redis.call('ZRANGE', KEYS[2], first, first + limit - 1) or {}
local items = {}
for at, id in ipairs(ids) do items[at] = redis.call('HGET', KEYS[1], ARGV[3] .. '/' .. id) end
return {total, items}`

/** KEYS: digests, tokens. ARGV: digest. */
export const findToken = lua`
local field = redis.call('HGET', KEYS[1], ARGV[1])
return field and redis.call('HGET', KEYS[2], field)`

/** KEYS: those of gateways, those of tokens from the fourth to the fifth, accounts. ARGV: channel, account, its json, id and json of the gateway, its time; the same with digest of the token. */
export const insertFirst = lua`${basics}
local channel, account, json, gateway, gatewayJson, gatewayAt, token, digest, tokenJson, tokenAt = unpack(ARGV)
if redis.call('HLEN', KEYS[9]) > 0 then return 0 end
redis.call('HSET', KEYS[9], account, json)
redis.call('ZADD', KEYS[5], gatewayAt, gateway)
put(channel, 'gateway', KEYS[4], account, gateway, '-', gatewayJson)
redis.call('ZADD', KEYS[8], tokenAt, token)
put(channel, 'token', KEYS[7], account, token, digest, tokenJson)
return 1`
