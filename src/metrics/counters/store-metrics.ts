// Counts of the store, in each process that has it open.

import { Tally, tallies } from './distribution.ts'

const refusals = ['queue_full', 'locked'] as const
export type WriteRefusal = (typeof refusals)[number]

export class StoreMetrics {
  readonly queuedWrites = new Tally()
  readonly refusedWrites = tallies(refusals)
}
