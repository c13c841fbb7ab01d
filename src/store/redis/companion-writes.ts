// The companions of a record that are written in the same step, an audit entry and a stored response: their
// keys, arguments and Lua.

import type { Clock } from '../../base/clock.ts'
import type { AuditEntry, StoredResponse } from '../records/records.ts'
import type { Together } from '../contract/store.ts'
import type { Argument } from './server/connect.ts'
import { keys } from './server/keys.ts'
import { shiftOf } from './server/clock.ts'

/** The number of arguments from `togetherArguments`. */
export const togetherCount = 7

export function togetherKeys(account: string, { audit, response }: Together): readonly string[] {
  // Without a response, the key of one that never exists.
  const { account: owner, key } = response ?? { account, key: '' }
  return [...auditKeys(audit?.account ?? account, audit?.actor ?? ''), keys.response(owner, key)]
}

/**
 * Returns id, time, JSON and actor of the audit entry, the current time, the response and its expiry; empty
 * if there is none.
 */
export function togetherArguments({ audit, response }: Together, clock: Clock): readonly Argument[] {
  return [
    ...(audit ? auditArguments(audit) : ['', '', '', '']),
    ...(response ? responseArguments(response, clock) : ['', '', '']),
  ]
}

export function auditKeys(account: string, actor: string): readonly string[] {
  return [
    keys.auditTimes(account),
    keys.auditEntries(account),
    keys.auditActors(account),
    keys.auditTimesOf(account, actor),
  ]
}

export function auditArguments(entry: AuditEntry): readonly Argument[] {
  return [entry.id, entry.at, JSON.stringify(entry), entry.actor]
}

export const auditLua = `
local function audit(times, entries, actors, own, id, at, json, actor)
  if redis.call('HSETNX', entries, id, json) == 0 then return end
  redis.call('ZADD', times, at, id)
  redis.call('ZADD', actors, 0, actor)
  redis.call('ZADD', own, at, id)
end
`

/**
 * Checks whether the key of the response is taken, and writes both companions. Their ARGV come first, and
 * their KEYS after those of the script.
 */
export function togetherLua(keysBefore: number): string {
  const [times, entries, actors, own, response] = [1, 2, 3, 4, 5].map(at => `KEYS[${keysBefore + at}]`)
  return `${auditLua}
local function responded()
  local stored = ARGV[6] ~= '' and redis.call('GET', ${response})
  return stored and tonumber(string.match(stored, '^%d+')) > tonumber(ARGV[5])
end

local function accompany()
  if ARGV[1] ~= '' then audit(${times}, ${entries}, ${actors}, ${own}, unpack(ARGV, 1, 4)) end
  if ARGV[6] ~= '' then
    redis.call('SET', ${response}, ARGV[6])
    redis.call('PEXPIREAT', ${response}, ARGV[7])
  end
end
`
}

function responseArguments(response: StoredResponse, clock: Clock): readonly Argument[] {
  const { expiresAt } = response
  return [clock.now(), `${expiresAt} ${JSON.stringify(response)}`, expiresAt - shiftOf(clock)]
}
