// The keys nearest to each limit, as known to one process, and joined from several.

import { nextTurn } from '../base/turns/turns.ts'
import type { KeyCount } from './key-count.ts'

/** Counts examined in one turn of the event loop: less than a ms. */
const maxPerTurn = 1_000
export const maxNear = 10

export interface NearKey {
  readonly limit: string
  /** Parts that end with a line break, or an address. */
  readonly key: string
  readonly storeKey: string
  /** Of all processes. */
  readonly used: number
  readonly unreported: number
}

/** Returns the keys nearest to each limit, nearest first; examines some in each turn. */
export async function nearestOf(counts: readonly KeyCount[], now: number): Promise<readonly NearKey[]> {
  const byLimit = new Map<string, NearCount[]>()
  for (const [i, count] of counts.entries()) {
    if (i % maxPerTurn === maxPerTurn - 1) await nextTurn()
    const used = count.estimate(now)
    if (used < 1) continue
    const near = byLimit.get(count.limit.name)
    if (near === undefined) byLimit.set(count.limit.name, [{ count, used }])
    else if (near.length < maxNear || used > near.at(-1)!.used) insert(near, { count, used })
  }
  return [...byLimit.values()].flatMap(near => near.map(viewNear))
}

export function joinNear(views: readonly (readonly NearKey[])[]): readonly NearKey[] {
  const byKey = new Map<string, NearKey>()
  for (const near of views.flat()) {
    const existing = byKey.get(near.storeKey)
    byKey.set(near.storeKey, existing === undefined ? near : joined(existing, near))
  }
  return [...byKey.values()].sort((one, other) => other.used - one.used).slice(0, maxNear)
}

interface NearCount {
  readonly count: KeyCount
  readonly used: number
}

function insert(near: NearCount[], one: NearCount): void {
  const at = near.findIndex(({ used }) => used < one.used)
  near.splice(at < 0 ? near.length : at, 0, one)
  if (near.length > maxNear) near.pop()
}

function viewNear({ count, used }: NearCount): NearKey {
  const { limit, key, storeKey, unreported } = count
  return { limit: limit.name, key, storeKey, used, unreported }
}

function joined(one: NearKey, other: NearKey): NearKey {
  const unreported = one.unreported + other.unreported
  return { ...one, used: Math.max(one.used, other.used), unreported }
}
