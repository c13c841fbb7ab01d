// Lua that Redis runs as one step, sent whole only to a server that does not know it yet.

import { createHash } from 'node:crypto'
import type { Argument, Command } from './connect.ts'
import { argumentCounts } from './key-commands.ts'

/** Lua, with its SHA-1 by which Redis runs it. */
interface Text {
  readonly text: string
  readonly sha: string
}

export interface Script extends Text {
  /** Does nothing, but is refused if the script would be for lack of rights. */
  readonly rehearsal: Text
}

/**
 * Makes a script; the tag lets editors highlight it. The script fails with NOPERM before its first command if
 * the user may not run all of its commands.
 */
export function lua(parts: TemplateStringsArray, ...values: readonly string[]): Script {
  const body = String.raw({ raw: parts }, ...values)
  const guard = guardOf(body)
  return { ...textOf(guard + body), rehearsal: textOf(guard) }
}

/**
 * Lua that finds the rank of the first member of a sorted set after a position, in ascending (Z) or
 * descending (ZREV) order, whether or not a member is at the position. Members with equal scores are sorted
 * by bytes, while Lua's operators compare by locale.
 */
export const rankLua = `
local function precedes(one, other)
  for i = 1, math.min(#one, #other) do
    local x, y = string.byte(one, i), string.byte(other, i)
    if x ~= y then return x < y end
  end
  return #one < #other
end

local function behind(key, way, time, id)
  local isUp = way == 'Z'
  local low = isUp and redis.call('ZCOUNT', key, '-inf', '(' .. time) or redis.call('ZCOUNT', key, '(' .. time, '+inf')
  local high = low + redis.call('ZCOUNT', key, time, time)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local middleId = redis.call(way .. 'RANGE', key, middle, middle)[1]
    local isPassed = middleId == id or precedes(middleId, id) == isUp
    if isPassed then low = middle + 1 else high = middle end
  end
  return low
end
`

export function byName(script: Text, keys: readonly string[], args: readonly Argument[]): Command {
  return ['EVALSHA', script.sha, keys.length, ...keys, ...args]
}

export function whole(script: Text, keys: readonly string[], args: readonly Argument[]): Command {
  return ['EVAL', script.text, keys.length, ...keys, ...args]
}

function textOf(text: string): Text {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

/** Whether a server refused a script because it does not know its SHA-1. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}

function askFor(name: string): string {
  const count = argumentCounts.get(name.toLowerCase())
  if (count === undefined) throw new Error(`key-commands.ts lacks ${name}, which a script runs`)
  return `may(${[`'${name}'`, ...Array<string>(count).fill('place')].join(', ')})`
}

/**
 * Generates a check that the user may run every command in `redis.call`, as Redis does not roll back a failed
 * script. Commands in `redis.pcall` are optional. Needs Redis 7.
 */
function guardOf(body: string): string {
  const names = new Set([...body.matchAll(/redis\.call\('([A-Z]+)'/g)].map(([, name]) => name))
  const checks = [...names].map(name => askFor(name!))
  return `local may, place = redis.acl_check_cmd, KEYS[1]
if may and not (${checks.join(' and ')}) then
  return redis.error_reply('NOPERM this user may not run all commands of the script')
end
`
}
