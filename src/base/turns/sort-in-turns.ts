// Sorts large arrays in short steps, so that no request waits long.

import { nextTurn } from './turns.ts'

const run = 256
const mergedAtOnce = 512

/** Stable. */
export async function sortInTurns<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
): Promise<readonly T[]> {
  let runs: (readonly T[])[] = []
  for (let at = 0; at < items.length; at += run) {
    runs.push(items.slice(at, at + run).sort(compare))
    await nextTurn()
  }
  while (runs.length > 1) {
    const merged: (readonly T[])[] = []
    for (let i = 0; i < runs.length; i += 2) merged.push(await merge(runs[i]!, runs[i + 1] ?? [], compare))
    runs = merged
  }
  return runs[0] ?? []
}

async function merge<T>(
  one: readonly T[],
  other: readonly T[],
  compare: (a: T, b: T) => number,
): Promise<readonly T[]> {
  const merged: T[] = []
  for (let i = 0, j = 0; i < one.length || j < other.length; ) {
    const isOther = i === one.length || (j < other.length && compare(one[i]!, other[j]!) > 0)
    merged.push(isOther ? other[j++]! : one[i++]!)
    if (merged.length % mergedAtOnce === 0) await nextTurn()
  }
  return merged
}
