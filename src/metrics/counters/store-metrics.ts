// What is counted of the store, in each process that has it open.

import { Tally, tallies } from './distribution.ts'

/** Why a write was turned away that the store could have taken at another time. */
const refusals = ['queue_full', 'locked'] as const
export type WriteRefusal = (typeof refusals)[number]

export class StoreMetrics {
  /** Writes that wait for the lock of a file, or for those before them. */
  readonly queuedWrites = new Tally()
  readonly refusedWrites = tallies(refusals)
}
