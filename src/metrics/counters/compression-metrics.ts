// What is counted of responses that the gateway compresses.

import { Tally, tallies } from './distribution.ts'

const codings = ['zstd', 'br', 'gzip'] as const

export class CompressionMetrics {
  /** By content coding. */
  readonly responses = tallies(codings)
  /** Bytes of their bodies before and after, counted as each ends. */
  readonly bytesIn = tallies(codings)
  readonly bytesOut = tallies(codings)
  /** Bytes that the encoders under way take at most. */
  readonly memory = new Tally()
  /** Responses that were not compressed for want of memory. */
  readonly skipped = new Tally()
}
