// Scripts for the log of one gateway. KEYS: arrivals, times, summaries, payloads, sums, windows.

import { lua, rankLua } from '../server/script.ts'

/** Removed by one append beyond what it adds: a limit that was lowered by far must not stop the server. */
const maxTrimmed = 10_000
/** What a batch of whole entries may weigh in bytes before it ends. */
const heaviestBatch = 1024 * 1024

/**
 * ARGV: strategy, limit, then of each entry id, time, summary and payloads; returns how many are stored,
 * existing ones once. Removes the first by time, or the last with STOP_INSERTING: each process writes batches
 * of its own.
 */
export const appendEntries = lua`
local deletes, maxEntries = ARGV[1] == 'DELETE_OLDEST', tonumber(ARGV[2])
local count, storedCount, added = redis.call('ZCARD', KEYS[2]), 0, {}
local number = tonumber(redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] or 0)
local isOpen = maxEntries > 0 and (deletes or count <= maxEntries)
local edge = nil
if isOpen and count >= maxEntries then
  if deletes then edge = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
  else edge = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2] end
  edge = tonumber(edge)
end
local function hasRoom(time)
  if not isOpen or edge == nil then return isOpen end
  if deletes then return time >= edge end
  return time <= edge
end
for at = 3, #ARGV, 4 do
  local id, time, summary, payloads = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  if redis.call('HEXISTS', KEYS[3], id) == 1 then
    storedCount = storedCount + 1
  elseif hasRoom(tonumber(time)) then
    number, count, storedCount, added[id] = number + 1, count + 1, storedCount + 1, true
    redis.call('ZADD', KEYS[1], number, id)
    redis.call('ZADD', KEYS[2], time, id)
    redis.call('HSET', KEYS[3], id, summary)
    if payloads ~= '' then redis.call('HSET', KEYS[4], id, payloads) end
  end
end
local excess = (deletes or isOpen) and math.min(count - maxEntries, storedCount + ${String(maxTrimmed)}) or 0
for _ = 1, excess do
  local id = nil
  if deletes then id = redis.call('ZPOPMIN', KEYS[2])[1]
  else id = redis.call('ZREVRANGE', KEYS[2], 0, 0)[1] end
  if added[id] then storedCount = storedCount - 1 end
  redis.call('ZREM', KEYS[1], id)
  redis.call('ZREM', KEYS[2], id)
  redis.call('HDEL', KEYS[3], id)
  redis.call('HDEL', KEYS[4], id)
end
return storedCount`

/** What a batch of summaries may weigh in bytes before it ends. */
const heaviestPage = 64 * 1024

/** ARGV: Z or ZREV, limit, offset, time and id of the entry before; returns if weight ended it, summaries. */
export const listEntries = lua`${rankLua}
local way, limit, offset, id, time = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5]
local first = offset + (id and behind(KEYS[2], way, time, id) or 0)
local summaries, weight = {}, 0
for at, entry in ipairs(redis.call(way .. 'RANGE', KEYS[2], first, first + limit - 1)) do
  summaries[at] = redis.call('HGET', KEYS[3], entry)
  weight = weight + #summaries[at]
  if weight >= ${String(heaviestPage)} then return {1, summaries} end
end
return {0, summaries}`

/**
 * ARGV: since, width and number of windows. Returns of each the number of entries, the first and the last,
 * and how often entries were removed on request: otherwise only the first or the last ones go.
 */
export const markWindows = lua`
local since, width, marks = tonumber(ARGV[1]), tonumber(ARGV[2]), {}
local removals = redis.call('HGET', KEYS[4], 'removals') or '0'
local first = redis.call('ZCOUNT', KEYS[2], '-inf', '(' .. ARGV[1])
for at = 0, tonumber(ARGV[3]) - 1 do
  local from, to = since + at * width, since + (at + 1) * width
  local count = redis.call('ZCOUNT', KEYS[2], string.format('%.0f', from), '(' .. string.format('%.0f', to))
  local mark = ''
  if count > 0 then
    local last = first + count - 1
    mark = redis.call('ZRANGE', KEYS[2], first, first)[1] .. redis.call('ZRANGE', KEYS[2], last, last)[1] .. removals
  end
  first = first + count
  marks[2 * at + 1], marks[2 * at + 2] = count, mark
end
return marks`

/** The maximum number of sums that one step removes since their entries are gone. */
const maxForgotten = 100

/** ARGV: window, when it ends, its mark and a text behind it. */
export const keepSum = lua`
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
if not first then return 0 end
redis.call('ZADD', KEYS[6], ARGV[2], ARGV[1])
redis.call('HSET', KEYS[5], ARGV[1], ARGV[3])
for _, window in ipairs(redis.call('ZRANGEBYSCORE', KEYS[6], '-inf', first, 'LIMIT', 0, ${String(maxForgotten)})) do
  redis.call('ZREM', KEYS[6], window)
  redis.call('HDEL', KEYS[5], window)
end
return 1`

/** ARGV: number and id of the entry before, or empty, limit; returns those of the last, and summaries. */
export const tailEntries = lua`
local last, id, limit, summaries, weight = ARGV[1], ARGV[2], tonumber(ARGV[3]), {}, 0
if last ~= '0' and redis.call('ZRANGEBYSCORE', KEYS[1], last, last)[1] ~= id then
  last = redis.call('ZREVRANGE', KEYS[1], limit, limit, 'WITHSCORES')[2] or '0'
  id = ''
end
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. last, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
for at = 1, #ids, 2 do
  if weight >= ${String(heaviestPage)} then break end
  local summary = redis.call('HGET', KEYS[3], ids[at])
  summaries[(at + 1) / 2], weight, id, last = summary, weight + #summary, ids[at], ids[at + 1]
end
return {id == '' and '0' or last, id, summaries}`

/** ARGV: the number of the entry before, limit; returns that of the last, and summaries and payloads. */
export const wholeEntries = lua`
local last, entries, weight = ARGV[1], {}, 0
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. last, '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
for at = 1, #ids, 2 do
  if weight > ${String(heaviestBatch)} then break end
  local payloads = redis.call('HGET', KEYS[4], ids[at]) or ''
  entries[at], entries[at + 1] = redis.call('HGET', KEYS[3], ids[at]), payloads
  weight, last = weight + #payloads, ids[at + 1]
end
return {last, entries}`

/** ARGV: an id, its summary as it was read, and the new one; gives whether that was written. */
export const editEntry = lua`
if redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[3], ARGV[1], ARGV[3])
return 1`

/** ARGV: ids; returns how many there were. Marks of earlier reads must not match what is left. */
export const removeEntries = lua`
local removed = 0
redis.call('HINCRBY', KEYS[4], 'removals', 1)
redis.call('DEL', KEYS[5], KEYS[6])
for _, id in ipairs(ARGV) do
  removed = removed + redis.call('ZREM', KEYS[1], id)
  redis.call('ZREM', KEYS[2], id)
  redis.call('HDEL', KEYS[3], id)
  redis.call('HDEL', KEYS[4], id)
end
return removed`
