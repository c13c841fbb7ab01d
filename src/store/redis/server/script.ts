// Lua that Redis runs as one step, sent whole only to a server that doesn't know it yet.

import { createHash } from 'node:crypto'
import type { Argument, Command } from './connect.ts'

/** Lua, and what Redis calls it. */
interface Text {
  readonly text: string
  readonly sha: string
}

export interface Script extends Text {
  /** Does nothing, and is refused where the script would be for want of rights. */
  readonly rehearsal: Text
}

/** Keeps Lua as a script; the tag lets editors colour it. It refuses with NOPERM before it begins where the user may not run all of its commands. */
export function lua(parts: TemplateStringsArray, ...values: readonly string[]): Script {
  const body = String.raw({ raw: parts }, ...values)
  const guard = guardOf(body)
  return { ...textOf(guard + body), rehearsal: textOf(guard) }
}

/**
 * Lua that finds the rank of the first member of a sorted set behind a place, in rising order (Z) or falling (ZREV), whether or not something is at the place: what
 * is equal in score is ordered by its bytes, which operators of Lua compare by locale.
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
    local found = redis.call(way .. 'RANGE', key, middle, middle)[1]
    local isPassed = found == id or precedes(found, id) == isUp
    if isPassed then low = middle + 1 else high = middle end
  end
  return low
end
`

/** Returns the command that runs a script by its name. */
export function byName(script: Text, keys: readonly string[], args: readonly Argument[]): Command {
  return ['EVALSHA', script.sha, keys.length, ...keys, ...args]
}

/** Returns the command that runs a script and makes it known. */
export function whole(script: Text, keys: readonly string[], args: readonly Argument[]): Command {
  return ['EVAL', script.text, keys.length, ...keys, ...args]
}

function textOf(text: string): Text {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

/** Whether a server refused a script by its name since it doesn't know it. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}

/**
 * Writes the question whether the user may run what stands in `redis.call`: Redis undoes nothing of a script that is stopped on its way. What stands in
 * `redis.pcall` can be done without. Redis 7 and newer answer, at 0.2 µs a command; the keys are checked by EVAL itself.
 */
function guardOf(body: string): string {
  const names = new Set([...body.matchAll(/redis\.call\('([A-Z]+)'/g)].map(([, name]) => name))
  const checks = [...names].map(name => `may('${name}', place)`)
  return `local may, place = redis.acl_check_cmd, KEYS[1]
if may and not (${checks.join(' and ')}) then
  return redis.error_reply('NOPERM this user may not run all commands of the script')
end
`
}
