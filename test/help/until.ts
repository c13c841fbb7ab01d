// Waiting for what no event tells, such as what another process has done; never without an end.

import { setImmediate as turn } from 'node:timers/promises'

type Holds = () => boolean | Promise<boolean>

/** Ms that anything may take. */
const PATIENCE = 60_000

/** The most that a second comes to on a busy machine, in ms. */
export const busySecond = 20_000

/** As it is before a test mocks it. */
const { setTimeout: timer } = globalThis
const sleep = (ms: number) => new Promise<void>(resolve => timer(resolve, ms))

/** Turns that take no time beside what is waited for. */
const quickTurns = 200

/** Asks again and again until it holds, ever less often, since asking takes time from what is waited for; fails when it takes too long. */
export function until(holds: Holds, ms = PATIENCE): Promise<void> {
  return asking(holds, ms, waited => sleep(Math.min(10 + waited / 20, 100)))
}

/** The same at each turn of the event loop, for what this process does itself, and where timers stand still; what takes longer gets the processor in between. */
export function turnsUntil(holds: Holds, ms = PATIENCE): Promise<void> {
  let turns = 0
  return asking(holds, ms, () => (turns++ < quickTurns ? turn() : sleep(2)))
}

async function asking(holds: Holds, ms: number, pause: (waited: number) => Promise<unknown>): Promise<void> {
  const began = performance.now()
  while (!(await holds())) {
    const waited = performance.now() - began
    if (waited > ms) throw new Error(`not so within ${ms} ms: ${holds}`)
    await pause(waited)
  }
}
