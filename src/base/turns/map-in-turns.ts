// Asks something of many items, a few at a time. What is at hand is answered at once, so that without turns between all of it would be one.

import { nextTurn } from './turns.ts'

/** Items that are worked on at once. */
const atOnce = 25

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
