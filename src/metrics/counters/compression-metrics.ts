// Counts of responses that the gateway compresses.

import { Tally, tallies } from './distribution.ts'

const codings = ['zstd', 'br', 'gzip'] as const

export class CompressionMetrics {
  readonly responses = tallies(codings)
  /** Bytes of their bodies before and after, counted as each ends. */
  readonly bytesIn = tallies(codings)
  readonly bytesOut = tallies(codings)
  /** The maximum memory of the running encoders, in bytes. */
  readonly memory = new Tally()
  readonly skipped = new Tally()
}
