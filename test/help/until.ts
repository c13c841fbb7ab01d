// Waiting for what no event tells, such as what another process has done; never without an end.

import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'

type Holds = () => boolean | Promise<boolean>

/** Ms that anything may take. */
const PATIENCE = 60_000

/** The most that a second comes to on a busy machine, in ms. */
export const busySecond = 20_000

/** Asks again and again until it holds; fails when it takes too long. */
export function until(holds: Holds, ms = PATIENCE): Promise<void> {
  return asking(holds, ms, () => sleep(10))
}

/** The same at each turn of the event loop, for what this process does itself, and where timers stand still. */
export function turnsUntil(holds: Holds, ms = PATIENCE): Promise<void> {
  return asking(holds, ms, turn)
}

async function asking(holds: Holds, ms: number, pause: () => Promise<unknown>): Promise<void> {
  const end = performance.now() + ms
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not so within ${ms} ms: ${holds}`)
    await pause()
  }
}
