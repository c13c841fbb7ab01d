// The clock of the server, which all processes share, ahead by as much as a test has put ours.

import type { Clock } from '../../../base/clock.ts'

/** Returns by how much a clock is ahead of that of the system, in ms: nothing, but in tests that move it. */
export function shiftOf(clock: Clock): number {
  return clock.now() - Date.now()
}

/** Returns the time of the server in ms, moved by a shift. */
export const serverClockLua = `
local function now(shift)
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000) + shift
end
`
