// The clock of the server, which all processes share, moved ahead as much as tests move ours.

import type { Clock } from '../../../base/clock.ts'

/** Returns how far a clock is ahead of the system clock, in ms: 0, except in tests that move it. */
export function shiftOf(clock: Clock): number {
  return clock.now() - Date.now()
}

/** Returns the server's time in ms, moved by a shift. */
export const serverClockLua = `
local function now(shift)
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000) + shift
end
`
