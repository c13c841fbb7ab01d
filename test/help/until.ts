// Waiting for what no event tells, such as what another process has done.

import { setTimeout as sleep } from 'node:timers/promises'

/** The most that a second comes to on a busy machine, in ms. */
export const busySecond = 20_000

/** Asks again and again until it holds; fails when it takes too long. */
export async function until(holds: () => boolean | Promise<boolean>, ms = 60_000): Promise<void> {
  const end = performance.now() + ms
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not so within ${ms} ms: ${holds}`)
    await sleep(10)
  }
}
