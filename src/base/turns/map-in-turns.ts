// Works on many items, with turns for other work in between.

import { nextTurn, pause } from './turns.ts'

const atOnce = 25

/** In order: for synchronous work that is long in total. */
export async function makeInTurns<T, Made>(
  items: readonly T[],
  make: (item: T, index: number) => Made,
): Promise<readonly Made[]> {
  const results: Made[] = []
  for (const [index, item] of items.entries()) {
    await pause()
    results.push(make(item, index))
  }
  return results
}

/** A few at a time, in order. */
export async function mapInTurns<T, Made>(
  items: readonly T[],
  work: (item: T) => Promise<Made>,
): Promise<readonly Made[]> {
  const results: Made[] = []
  for (let at = 0; at < items.length; at += atOnce) {
    if (at > 0) await nextTurn()
    results.push(...(await Promise.all(items.slice(at, at + atOnce).map(work))))
  }
  return results
}
