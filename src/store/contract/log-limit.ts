// Which entries of a gateway fit its limit: the first or the last by time and then id, in whatever order they arrive.

import type { LogLimit } from './store.ts'

/** What decides about an entry. */
interface Moment {
  readonly createdAt: number
  readonly id: string
}

/** Compares entries by time, and by id where that is the same, for `sort`. */
function compareMoments(a: Moment, b: Moment): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : Number(a.id > b.id))
}

/** Returns those entries, in the order given, that have a place when there are no others. */
export function fittest<T extends Moment>(entries: readonly T[], { most, strategy }: LogLimit): readonly T[] {
  if (entries.length <= most) return entries
  const inTime = entries.toSorted(compareMoments)
  const chosen = new Set(
    strategy === 'DELETE_OLDEST' ? inTime.slice(-most || inTime.length) : inTime.slice(0, most),
  )
  return entries.filter(entry => chosen.has(entry))
}
