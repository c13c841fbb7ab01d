// Alternates the load of several contestants in one run, slice by slice.
import { setTimeout as wait } from 'node:timers/promises'
import type { PausableLoad } from './paused-load.ts'

/** A contestant that runs beside the others. */
export interface Runner {
  readonly name: string
  readonly load: PausableLoad
  /** Returns the CPU time that it has spent so far, in µs. */
  cpu(): number
}

/** What a contestant did in one block. */
export interface Block {
  /** CPU µs a request or event, with what it did behind its slices, such as writing its log. */
  readonly cost: number
  /** Requests or events a second of its slices. */
  readonly rate: number
}

/** Milliseconds within which a contestant without load has become quiet when it spends less than the share of them. */
const quietWindow = 5
const quietShare = 0.1
const longestWait = 200

/**
 * Runs one block: a slice of so many milliseconds each, in random order, and another one in the reverse order, so that
 * whatever drifts evenly is shared by all. What each spent is read at the ends of the block, when all are quiet.
 */
export async function runBlock(runners: readonly Runner[], slice: number): Promise<Map<string, Block>> {
  const order = shuffled(runners)
  const before = order.map(read)
  const active = order.map(() => 0)
  for (const at of mirrored(order.length)) {
    const runner = order[at]!
    const began = performance.now()
    runner.load.resume()
    await wait(slice)
    runner.load.pause()
    active[at]! += performance.now() - began
    await untilQuiet(runner)
  }
  const after = order.map(read)
  return new Map(
    order.map(({ name }, at) => {
      const count = after[at]!.count - before[at]!.count
      if (count <= 0) throw new Error(`${name} responded to nothing within a block`)
      const cost = (after[at]!.cpu - before[at]!.cpu) / count
      return [name, { cost, rate: (count * 1000) / active[at]! }]
    }),
  )
}

/** Returns the indices of so many, first up and then down. */
export function mirrored(count: number): number[] {
  const up = Array.from({ length: count }, (_, at) => at)
  return [...up, ...up.toReversed()]
}

function read({ cpu, load }: Runner) {
  return { cpu: cpu(), count: load.count }
}

/** Waits until what was under way at the pause is over; what works on without load, such as a writer of logs, is not waited for. */
async function untilQuiet({ cpu }: Runner): Promise<void> {
  const end = performance.now() + longestWait
  for (let spent = cpu(); performance.now() < end; ) {
    await wait(quietWindow)
    const now = cpu()
    if (now - spent < quietWindow * 1000 * quietShare) return
    spent = now
  }
}

function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map(value => ({ value, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value)
}
