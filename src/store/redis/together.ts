// What is written in one step with a record, an audit entry and an answer: the keys, the arguments and the Lua of that. record-scripts.ts
// has it in its scripts, records.ts fills it in.
import type { Clock } from '../../base/clock.ts'
import type { AuditEntry, KeptAnswer } from '../records.ts'
import type { Together } from '../store.ts'
import type { Argument } from './connect.ts'
import { keys } from './keys.ts'
import { shiftOf } from './server-clock.ts'

/** The most audit entries of one account. */
const mostAuditEntries = 100_000

/** The most audit entries that one write removes, so that a limit that was lowered by far doesn't stop the server. */
const mostTrimmed = 100

/** How many arguments `togetherArguments` gives. */
export const togetherCount = 6

/** The keys, in the order in which the scripts take them. */
export function togetherKeys(account: string, { audit, answer }: Together): readonly string[] {
  // A key of an answer that never is, where there is none.
  const { account: asked, key } = answer ?? { account, key: '' }
  return [...auditKeys(audit?.account ?? account), keys.answer(asked, key)]
}

/** Id, time and json of the audit entry; now, the answer as it is kept, and when the server may drop that. Empty where there is none. */
export function togetherArguments({ audit, answer }: Together, clock: Clock): readonly Argument[] {
  return [
    ...(audit ? auditArguments(audit) : ['', '', '']),
    ...(answer ? answerArguments(answer, clock) : ['', '', '']),
  ]
}

/** The keys of an account's audit entries, in the order in which the scripts take them. */
export function auditKeys(account: string): readonly string[] {
  return [keys.auditTimes(account), keys.auditEntries(account)]
}

/** Id, time and json. */
export function auditArguments(entry: AuditEntry): readonly Argument[] {
  return [entry.id, entry.at, JSON.stringify(entry)]
}

/** Keeps an audit entry as far as it is new, and lets the oldest go. */
export const auditLua = `
local function audit(times, entries, id, at, json)
  if redis.call('HSETNX', entries, id, json) == 0 then return end
  redis.call('ZADD', times, at, id)
  local excess = redis.call('ZCARD', times) - ${mostAuditEntries}
  if excess <= 0 then return end
  local gone = redis.call('ZPOPMIN', times, math.min(excess, ${mostTrimmed}))
  for at = 1, #gone, 2 do redis.call('HDEL', entries, gone[at]) end
end
`

/** Tells whether the key of the answer is taken, and writes both; KEYS from the ninth and ARGV from the first are those of above. */
export const togetherLua = `${auditLua}
local function answered()
  local kept = ARGV[5] ~= '' and redis.call('GET', KEYS[11])
  return kept and tonumber(string.match(kept, '^%d+')) > tonumber(ARGV[4])
end

local function accompany()
  if ARGV[1] ~= '' then audit(KEYS[9], KEYS[10], ARGV[1], ARGV[2], ARGV[3]) end
  if ARGV[5] ~= '' then
    redis.call('SET', KEYS[11], ARGV[5])
    redis.call('PEXPIREAT', KEYS[11], ARGV[6])
  end
end
`

function answerArguments(answer: KeptAnswer, clock: Clock): readonly Argument[] {
  const { expiresAt } = answer
  return [clock.now(), `${expiresAt} ${JSON.stringify(answer)}`, expiresAt - shiftOf(clock)]
}
