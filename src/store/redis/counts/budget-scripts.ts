// The scripts of budgets: a step as `store/budget-ledger` takes it, over all its buckets at once.

import { lentPart, maxEnded, remembrance, shortRemembrance, shortWait } from '../../budget-ledger/ledger.ts'
import { serverClockLua } from '../server/clock.ts'
import { lua } from '../server/script.ts'

/*
 * A bucket is a hash: `s` and the number of a slot to what was spent in it, `h` and the name of a share to
 * its reported, amount, ifLost, expiresAt, keptUntil and sequence and, if something was charged, its slot and
 * amount.
 * Only what has changed is written. Amounts have up to 16 digits, two more than Lua writes by itself.
 */
const bucketLua = `${serverClockLua}
local time = now(tonumber(ARGV[1]))
local index = KEYS[1]

local function whole(number) return string.format('%.0f', number) end

local function load(key)
  local names, texts = redis.call('HKEYS', key), redis.call('HVALS', key)
  local slots, shares, isSorted = {}, {}, true
  for i, field in ipairs(names) do
    local name, text = string.sub(field, 2), texts[i]
    if string.sub(field, 1, 1) == 's' then
      local slot = tonumber(name)
      if #slots > 0 and slots[#slots].number > slot then isSorted = false end
      slots[#slots + 1] = {number = slot, spent = tonumber(text)}
    else
      local reported, amount, lost, expires, keptUntil, sequence, charge =
        string.match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) ?(.*)$')
      shares[name] = {
        reported = tonumber(reported), amount = tonumber(amount), lost = tonumber(lost),
        expires = tonumber(expires), keptUntil = tonumber(keptUntil),
        sequence = tonumber(sequence), charge = charge
      }
    end
  end
  if not isSorted then table.sort(slots, function(one, other) return one.number < other.number end) end
  return {key = key, slots = slots, shares = shares, gone = {}}
end

local function windowAt(i)
  return {kind = ARGV[i], size = tonumber(ARGV[i + 1]), reach = tonumber(ARGV[i + 2])}
end

local function slotOf(window, at)
  return window.kind == 'sliding' and math.floor(at / window.size) or 0
end

local function spend(account, window, amount, at)
  if amount == 0 or window.kind == 'none' then return '' end
  local slots = account.slots
  local last = slots[#slots]
  local number = math.max(slotOf(window, at), last and last.number or 0)
  if not last or last.number < number then
    last = {number = number, spent = 0}
    slots[#slots + 1] = last
  end
  last.spent, last.isChanged = last.spent + amount, true
  return whole(number) .. ' ' .. whole(amount)
end

local function expire(account, window)
  local expired = {}
  for name, share in pairs(account.shares) do
    if share.expires <= time and share.amount > 0 then expired[#expired + 1] = share end
    if share.keptUntil <= time then
      account.shares[name] = nil
      table.insert(account.gone, 'h' .. name)
    end
  end
  table.sort(expired, function(one, other) return one.expires < other.expires end)
  for _, share in ipairs(expired) do
    share.charge = spend(account, window, share.lost, share.expires)
    share.amount, share.lost, share.isChanged = 0, 0, true
  end
end

local function save(account, bucket, window)
  local key, last, keptUntil, isUnspent = account.key, time, time, true
  for _, field in ipairs(account.gone) do redis.call('HDEL', key, field) end
  for _, slot in ipairs(account.slots) do
    if slot.spent > 0 then isUnspent = false end
    if slot.isChanged then redis.call('HSET', key, 's' .. whole(slot.number), whole(slot.spent)) end
  end
  for name, share in pairs(account.shares) do
    last, keptUntil = math.max(last, share.expires), math.max(keptUntil, share.keptUntil)
    if share.amount > 0 then isUnspent = false end
    if share.isChanged then
      local text = string.format(
        '%.0f %.0f %.0f %.0f %.0f %.0f',
        share.reported, share.amount, share.lost, share.expires, share.keptUntil, share.sequence
      )
      redis.call('HSET', key, 'h' .. name, share.charge == '' and text or text .. ' ' .. share.charge)
    end
  end
  local ends = keptUntil
  if window.kind == 'fixed' then
    ends = math.max(last + ${String(shortRemembrance)}, window.size)
    if isUnspent then ends = math.min(ends, keptUntil) end
  end
  if window.kind == 'sliding' and not isUnspent then
    ends = math.max(keptUntil, last + (window.reach + 1) * window.size)
  end
  redis.call('PEXPIREAT', key, whole(ends - ARGV[1]))
  redis.call('ZADD', index, whole(ends), bucket)
end

local function tidy()
  local over = redis.call('ZRANGEBYSCORE', index, '-inf', whole(time), 'LIMIT', 0, 20 + #KEYS)
  for _, bucket in ipairs(over) do
    redis.call('ZREM', index, bucket)
  end
  local last = redis.call('ZREVRANGE', index, 0, 0, 'WITHSCORES')[2]
  if last then redis.call('PEXPIREAT', index, whole(last - ARGV[1])) end
end
`

/**
 * KEYS: index of the account, buckets. ARGV: shift of the clock, sequence, lease, and for each bucket its
 * name, the kind of its window, its end or the width of its slots, their reach, share, limit, total,
 * confirmed, keep, ifLost, need and want. Returns whether the step was granted, and the state of each line.
 */
export const takeStep = lua`${bucketLua}
local sequence, lease = tonumber(ARGV[2]), tonumber(ARGV[3])

local function lineAt(i, key)
  local function number(place) return tonumber(ARGV[i + place]) end
  return {
    account = load(key), bucket = ARGV[i], window = windowAt(i + 1), name = ARGV[i + 4], limit = number(5),
    total = number(6), confirmed = number(7), keep = number(8), lost = number(9), need = number(10),
    want = number(11)
  }
end

local function giveBack(account, share)
  local number, charged = string.match(share.charge, '^(%S+) (%S+)$')
  if not number then return end
  for _, slot in ipairs(account.slots) do
    if slot.number == tonumber(number) then
      slot.spent, slot.isChanged = slot.spent - math.min(tonumber(charged), slot.spent), true
    end
  end
end

local function report(account, share, line)
  giveBack(account, share)
  spend(account, line.window, math.max(0, line.total - share.reported), time)
  share.reported, share.amount, share.sequence, share.charge = line.total, line.keep, sequence, ''
  share.isChanged = true
end

local function forgetEnded(account)
  local ended = {}
  for name, share in pairs(account.shares) do
    if share.expires <= time then ended[#ended + 1] = {name = name, keptUntil = share.keptUntil} end
  end
  if #ended <= ${String(maxEnded)} then return end
  table.sort(ended, function(one, other)
    if one.keptUntil ~= other.keptUntil then return one.keptUntil < other.keptUntil end
    return one.name < other.name
  end)
  for i = 1, #ended - ${String(maxEnded)} do
    account.shares[ended[i].name] = nil
    table.insert(account.gone, 'h' .. ended[i].name)
  end
end

local function sumUp(account, line)
  local slots, window = account.slots, line.window
  local first = slotOf(window, time) - (window.kind == 'sliding' and window.reach or 0)
  while slots[1] and slots[1].number < first do
    table.insert(account.gone, 's' .. whole(table.remove(slots, 1).number))
  end
  line.spent, line.leased = 0, 0
  for _, slot in ipairs(slots) do line.spent = line.spent + slot.spent end
  for _, share in pairs(account.shares) do line.leased = line.leased + share.amount end
end

local function waitOf(line)
  local window, excess = line.window, line.spent + line.need - line.limit
  if line.need > line.limit then return false end
  if window.kind == 'fixed' then return math.max(0, window.size - time) end
  if excess <= 0 or window.kind == 'none' then return ${String(shortWait)} end
  for i = 1, #line.leaving, 2 do
    excess = excess - line.leaving[i]
    if excess <= 0 then return line.leaving[i + 1] end
  end
  return ${String(shortWait)}
end

local function leavingIn(line)
  local leaving, window = {}, line.window
  if window.kind ~= 'sliding' then return leaving end
  for _, slot in ipairs(line.account.slots) do
    leaving[#leaving + 1] = slot.spent
    leaving[#leaving + 1] = (slot.number + window.reach + 1) * window.size - time
  end
  return leaving
end

local lines, isGranted = {}, true
for i = 1, #KEYS - 1 do
  local line = lineAt(12 * i - 8, KEYS[i + 1])
  local account = line.account
  lines[i] = line
  expire(account, line.window)
  local share = account.shares[line.name] or {reported = line.confirmed, sequence = -1, charge = ''}
  line.share, account.shares[line.name] = share, share
  line.isTaken = share.sequence < sequence
  if line.isTaken then report(account, share, line) else isGranted = false end
  sumUp(account, line)
  line.fits = line.need == 0 or line.spent + line.leased + line.need <= line.limit
  if not line.fits then isGranted = false end
  line.leaving = line.fits and {} or leavingIn(line)
  line.wait = line.fits and 0 or waitOf(line)
end

local reply = {isGranted and 1 or 0}
for i, line in ipairs(lines) do
  local share = line.share
  if isGranted then
    local room = line.limit - line.spent - line.leased - line.need
    local lent = line.need + math.max(0, math.min(line.want, math.floor(room / ${String(lentPart)})))
    share.amount, line.leased = share.amount + lent, line.leased + lent
  end
  if line.isTaken then
    share.lost, share.expires = line.lost + share.amount - line.keep, time + lease
    local isKnown = line.window.kind == 'none' or (share.amount == 0 and line.total == line.confirmed)
    share.keptUntil = share.expires + (isKnown and ${String(shortRemembrance)} or ${String(remembrance)})
  end
  forgetEnded(line.account)
  save(line.account, line.bucket, line.window)
  reply[i + 1] = {line.fits and 1 or 0, share.amount, line.leased, line.spent, line.wait, line.leaving}
end
tidy()
return reply`

/** KEYS: index, bucket. ARGV: shift of the clock, and name and window of the bucket as in a step. */
export const resetOne = lua`${bucketLua}
local account, window = load(KEYS[2]), windowAt(3)
if not next(account.slots) and not next(account.shares) then return 0 end
expire(account, window)
for _, slot in ipairs(account.slots) do table.insert(account.gone, 's' .. whole(slot.number)) end
account.slots = {}
for _, share in pairs(account.shares) do
  if share.charge ~= '' then
    share.reported = share.reported + tonumber(string.match(share.charge, '%S+$'))
    share.charge, share.isChanged = '', true
  end
end
save(account, ARGV[2], window)
tidy()
return 1`

/** KEYS: index. Returns the names of its buckets, each followed by its end, whatever the protocol. */
export const listAll = lua`return redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')`

/** KEYS: buckets. ARGV: shift of the clock. Returns the time, and each bucket's fields and their texts. */
export const readSome = lua`${serverClockLua}
local reply = {now(tonumber(ARGV[1]))}
for i, key in ipairs(KEYS) do reply[i + 1] = {redis.call('HKEYS', key), redis.call('HVALS', key)} end
return reply`

/**
 * KEYS: index, buckets. ARGV: shift of the clock, and for each bucket its name, its end, the number of its
 * fields, and these with their texts.
 */
export const restoreSome = lua`
local index, at = KEYS[1], 2
local function expiry(key, ends) redis.call('PEXPIREAT', key, string.format('%.0f', ends - ARGV[1])) end
for i = 2, #KEYS do
  local bucket, ends, count = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
  redis.call('DEL', KEYS[i])
  for field = at + 3, at + 1 + 2 * count, 2 do redis.call('HSET', KEYS[i], ARGV[field], ARGV[field + 1]) end
  expiry(KEYS[i], ends)
  redis.call('ZADD', index, ends, bucket)
  at = at + 3 + 2 * count
end
expiry(index, redis.call('ZREVRANGE', index, 0, 0, 'WITHSCORES')[2])
return 1`
