// Works on many items, a few at a time. What is at hand is there at once, so that without turns between all of it would be one.

import { nextTurn, pause } from './turns.ts'

/** Items that are worked on at once. */
const atOnce = 25

/** Returns what is made of each item, in their order, with turns for others between: for what is long together. */
export async function makeInTurns<T, Made>(
  items: readonly T[],
  make: (item: T, index: number) => Made,
): Promise<readonly Made[]> {
  const made: Made[] = []
  for (const [index, item] of items.entries()) {
    await pause()
    made.push(make(item, index))
  }
  return made
}

/** Returns what the work makes of each item, in their order, with turns for others between. */
export async function mapInTurns<T, Made>(
  items: readonly T[],
  work: (item: T) => Promise<Made>,
): Promise<readonly Made[]> {
  const made: Made[] = []
  for (let at = 0; at < items.length; at += atOnce) {
    if (at > 0) await nextTurn()
    made.push(...(await Promise.all(items.slice(at, at + atOnce).map(work))))
  }
  return made
}
