// Budgets in Redis: one key for each bucket, those of an account in one slot, and one script for each step,
// which follows store/budget-ledger by the clock of the server.

import { bucketReach, bucketWidth } from '../../../base/sliding-window.ts'
import type { Clock } from '../../../base/clock.ts'
import { lentPart, remembrance, shortWait } from '../../budget-ledger/ledger.ts'
import type { Budgets } from '../../contract/budgets.ts'
import type { BudgetBucket, BudgetReply, BudgetStep, BudgetSum, BudgetWindow } from '../../records/budget.ts'
import type { Connection } from '../server/connection.ts'
import { keys } from '../server/keys.ts'
import { lua } from '../server/script.ts'
import { serverClockLua, shiftOf } from '../server/clock.ts'

export class RedisBudgets implements Budgets {
  readonly #connection: Connection
  readonly #clock: Clock

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection
    this.#clock = clock
  }

  get isUnreachable(): boolean {
    return this.#connection.isUnreachable
  }

  async step({ account, sequence, lease, lines }: BudgetStep): Promise<BudgetReply> {
    const words = lines.flatMap(({ window, limit, share, total, keep, ifLost, need, want }) => [
      ...wordsOf(window),
      ...[share, limit, total, keep, ifLost, need, want],
    ])
    const reply = await this.#connection.script(
      takeStep,
      lines.map(({ bucket }) => keys.budget(account, bucket)),
      [shiftOf(this.#clock), sequence, lease, ...words],
    )
    const [isGranted, ...states] = reply as [number, ...[number, number, number, number, number][]]
    return {
      isGranted: isGranted === 1,
      states: states.map(([fits, amount, leased, spent, wait]) => ({
        fits: fits === 1,
        ...{ amount, leased, spent },
        wait: wait === never ? null : wait,
      })),
    }
  }

  async read(account: string, buckets: readonly BudgetBucket[]): Promise<readonly BudgetSum[]> {
    if (buckets.length === 0) return []
    const sums = await this.#connection.script(
      readAll,
      buckets.map(({ bucket }) => keys.budget(account, bucket)),
      [shiftOf(this.#clock), ...buckets.flatMap(({ window }) => wordsOf(window))],
    )
    return (sums as [number, number][]).map(([spent, leased], i) => ({
      bucket: buckets[i]!.bucket,
      ...{ spent, leased },
    }))
  }

  async reset(account: string, { bucket, window }: BudgetBucket): Promise<void> {
    await this.#connection.script(
      resetOne,
      [keys.budget(account, bucket)],
      [shiftOf(this.#clock), ...wordsOf(window)],
    )
  }
}

const never = -1

/** The kind of a window, and two numbers. */
function wordsOf(window: BudgetWindow): readonly (string | number)[] {
  switch (window.kind) {
    case 'fixed':
      return ['fixed', window.until, 0]
    case 'sliding':
      return ['sliding', bucketWidth(window.period), bucketReach(window.period)]
    case 'none':
      return ['none', 0, 0]
  }
}

/** The beginning of all scripts; ARGV: shift of the clock. */
const ledgerLua = `${serverClockLua}
local time = now(tonumber(ARGV[1]))

local function window_at(i)
  local kind, one, two = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local slot = kind == 'sliding' and math.floor(time / one) or 0
  return {kind = kind, until_ = one, width = one, reach = two, slot = slot}
end

local function load(key)
  local packed = redis.call('GET', key)
  return packed and cmsgpack.unpack(packed) or {slots = {}, shares = {}}
end

local function spend(account, window, amount)
  if amount == 0 or window.kind == 'none' then return false end
  local slots = account.slots
  local last = slots[#slots]
  local slot = math.max(window.slot, last and last[1] or 0)
  if last and last[1] == slot then last[2] = last[2] + amount else slots[#slots + 1] = {slot, amount} end
  return {slot, amount}
end

local function expire(account, window)
  for name, share in pairs(account.shares) do
    if share.expires <= time then
      if share.amount > 0 then
        share.charged = spend(account, window, share.lost)
        share.reported = share.reported + share.lost
        share.amount, share.lost = 0, 0
      end
      if share.expires + ${remembrance} <= time then account.shares[name] = nil end
    end
  end
end

local function sum(account, window)
  local first = window.kind == 'sliding' and window.slot - window.reach or 0
  while account.slots[1] and account.slots[1][1] < first do table.remove(account.slots, 1) end
  local spent, leased = 0, 0
  for _, slot in ipairs(account.slots) do spent = spent + slot[2] end
  for _, share in pairs(account.shares) do leased = leased + share.amount end
  return spent, leased
end

local function save(key, account, window)
  local last = time
  for _, share in pairs(account.shares) do last = math.max(last, share.expires) end
  last = last + ${remembrance}
  if window.kind == 'fixed' then last = math.max(last, window.until_) end
  if window.kind == 'sliding' then last = math.max(last, time + (window.reach + 1) * window.width) end
  redis.call('SET', key, cmsgpack.pack(account), 'PX', math.max(1, math.ceil(last - time)))
end
`

/** Further ARGV: sequence and lease, and for each key its window, share and amounts. */
const takeStep = lua`${ledgerLua}
local sequence, lease = tonumber(ARGV[2]), tonumber(ARGV[3])

local function line_at(i)
  local at = 4 + (i - 1) * 10
  local number = function(place) return tonumber(ARGV[at + place]) end
  return {
    window = window_at(at), share = ARGV[at + 3], limit = number(4), total = number(5),
    keep = number(6), lost = number(7), need = number(8), want = number(9)
  }
end

local function give_back(account, charged, amount)
  if not charged then return end
  for _, slot in ipairs(account.slots) do
    if slot[1] == charged[1] then
      slot[2] = slot[2] - math.min(amount, charged[2], slot[2])
      return
    end
  end
end

local function report(account, line)
  local share = account.shares[line.share]
  if not share then
    share = {reported = 0, amount = 0, lost = 0, expires = 0, charged = false}
    account.shares[line.share] = share
  end
  if line.total < share.reported then
    give_back(account, share.charged, share.reported - line.total)
  else
    spend(account, line.window, line.total - share.reported)
  end
  share.charged = false
  share.reported, share.amount, share.sequence = line.total, line.keep, sequence
end

local function wait_of(account, line, spent)
  if line.need > line.limit then return ${String(never)} end
  local window, excess = line.window, spent + line.need - line.limit
  if excess <= 0 or window.kind == 'none' then return ${String(shortWait)} end
  if window.kind == 'fixed' then return math.max(0, window.until_ - time) end
  for _, slot in ipairs(account.slots) do
    excess = excess - slot[2]
    if excess <= 0 then return (slot[1] + window.reach + 1) * window.width - time end
  end
  return ${String(shortWait)}
end

local accounts, lines, states, granted = {}, {}, {}, 1
for i, key in ipairs(KEYS) do
  local account, line = load(key), line_at(i)
  expire(account, line.window)
  local share = account.shares[line.share]
  if share and share.sequence >= sequence then granted = 0 else report(account, line) end
  local spent, leased = sum(account, line.window)
  local fits = line.need == 0 or spent + leased + line.need <= line.limit
  if not fits then granted = 0 end
  local wait = fits and 0 or wait_of(account, line, spent)
  accounts[i], lines[i] = account, line
  states[i] = {fits and 1 or 0, account.shares[line.share].amount, leased, spent, wait}
end
for i, key in ipairs(KEYS) do
  local account, line, state = accounts[i], lines[i], states[i]
  local share = account.shares[line.share]
  if granted == 1 then
    local room = line.limit - state[4] - state[3] - line.need
    local lent = line.need + math.max(0, math.min(line.want, math.floor(room / ${String(lentPart)})))
    share.amount = share.amount + lent
    state[2], state[3] = share.amount, state[3] + lent
  end
  if share.sequence == sequence then
    share.lost, share.expires = line.lost + share.amount - line.keep, time + lease
  end
  save(key, account, line.window)
end
return {granted, unpack(states)}`

const readAll = lua`${ledgerLua}
local sums = {}
for i, key in ipairs(KEYS) do
  local account, window = load(key), window_at(2 + (i - 1) * 3)
  expire(account, window)
  sums[i] = {sum(account, window)}
end
return sums`

const resetOne = lua`${ledgerLua}
local account, window = load(KEYS[1]), window_at(2)
account.slots = {}
for _, share in pairs(account.shares) do share.charged = false end
save(KEYS[1], account, window)
return 1`
