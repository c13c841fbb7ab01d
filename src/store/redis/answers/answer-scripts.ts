// Scripts for the answers of one account, which share a hash tag.

import { serverClockLua } from '../server/clock.ts'
import { lua } from '../server/script.ts'

/** Answers that one run removes, and expired ones that a write does, so that none takes long. */
export const removeStep = 100
const broom = 20

/*
 * KEYS begin with: index, ages, ends, sums. The index has `id size expires` by `gateway/key`; ages has the
 * same members by the number of their write, ages of a gateway those of its own, and ends all of them by
 * expiry. Sums have bytes and entries, of the account and after a colon of each gateway, and the last number.
 * The parts of an answer are a hash with the name of its id.
 */
const answersLua = `${serverClockLua}
local index, ages, ends, sums = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

local function agesOf(gateway) return ages .. ':' .. gateway end
local function partsOf(id) return index .. ':' .. id end

local function add(gateway, size, count)
  redis.call('HINCRBY', sums, 'bytes', size)
  redis.call('HINCRBY', sums, 'entries', count)
  redis.call('HINCRBY', sums, 'bytes:' .. gateway, size)
  if redis.call('HINCRBY', sums, 'entries:' .. gateway, count) == 0 then
    redis.call('HDEL', sums, 'bytes:' .. gateway, 'entries:' .. gateway)
  end
end

local function remove(member)
  local text = redis.call('HGET', index, member)
  if not text then return 0 end
  local id, size = string.match(text, '^(%S+) (%d+) ')
  local gateway = string.match(member, '^[^/]*')
  redis.call('HDEL', index, member)
  redis.call('ZREM', ages, member)
  redis.call('ZREM', agesOf(gateway), member)
  redis.call('ZREM', ends, member)
  redis.call('UNLINK', partsOf(id))
  -- A minus in front would make it -0, which is no integer to Redis.
  add(gateway, 0 - tonumber(size), -1)
  return 1
end

local function removeExpired(time, most)
  local members = redis.call('ZRANGEBYSCORE', ends, '-inf', time, 'LIMIT', 0, most)
  for _, member in ipairs(members) do remove(member) end
  return #members
end

local function sum(of)
  local values = redis.call('HMGET', sums, 'bytes' .. of, 'entries' .. of)
  return tonumber(values[1] or 0), tonumber(values[2] or 0)
end

local function trim(of, all, maxBytes, maxEntries, most)
  local removed = 0
  while removed < most do
    local bytes, entries = sum(of)
    if bytes <= tonumber(maxBytes) and entries <= tonumber(maxEntries) then return false end
    local member = redis.call('ZRANGE', all, 0, 0)[1]
    if not member then return false end
    remove(member)
    redis.call('ZREM', all, member)
    removed = removed + 1
  end
  return true
end
`

/**
 * Publishes an answer. ARGV: shift of the clock, gateway, member, the id under which its parts were written,
 * or nothing, size, expiry, bytes and entries of the gateway, and of the account, and without an id the only
 * part. Returns 0 if the parts are gone, 2 if there may still be too many answers, else 1.
 */
export const publishAnswer = lua`${answersLua}
local shift, gateway, member, id, size, expires = unpack(ARGV, 1, 6)
if id ~= '' and redis.call('EXISTS', partsOf(id)) == 0 then return 0 end
removeExpired(now(shift), ${String(broom)})
remove(member)
local number = redis.call('HINCRBY', sums, 'number', 1)
if id == '' then
  id = number
  redis.call('HSET', partsOf(id), 0, ARGV[11])
end
redis.call('HSET', index, member, id .. ' ' .. size .. ' ' .. expires)
redis.call('ZADD', ages, number, member)
redis.call('ZADD', agesOf(gateway), number, member)
redis.call('ZADD', ends, expires, member)
redis.call('PEXPIREAT', partsOf(id), expires - shift)
add(gateway, size, 1)
local isOver = trim(':' .. gateway, agesOf(gateway), ARGV[7], ARGV[8], ${String(removeStep)})
isOver = trim('', ages, ARGV[9], ARGV[10], ${String(removeStep)}) or isOver
return isOver and 2 or 1`

/**
 * Removes the oldest answers beyond bounds. ARGV: gateway, or nothing for the account; bytes, entries.
 * Returns 1 if there may be more.
 */
export const trimAnswers = lua`${answersLua}
local gateway = ARGV[1]
if gateway == '' then return trim('', ages, ARGV[2], ARGV[3], ${String(removeStep)}) and 1 or 0 end
return trim(':' .. gateway, agesOf(gateway), ARGV[2], ARGV[3], ${String(removeStep)}) and 1 or 0`

/** ARGV: shift of the clock, member. Returns id, size and the first part; nothing if there is no answer. */
export const readAnswer = lua`${answersLua}
local text = redis.call('HGET', index, ARGV[2])
if not text then return false end
local id, size, expires = string.match(text, '^(%S+) (%d+) (%S+)$')
if tonumber(expires) <= now(ARGV[1]) then return false end
local first = redis.call('HGET', partsOf(id), 0)
if not first then return false end
return {id, size, first}`

/** ARGV: member. Returns how many were removed. */
export const removeAnswer = lua`${answersLua}
return remove(ARGV[1])`

/** ARGV: shift of the clock. Returns how many were removed. */
export const sweepAnswers = lua`${answersLua}
return removeExpired(now(ARGV[1]), ${String(removeStep)})`
