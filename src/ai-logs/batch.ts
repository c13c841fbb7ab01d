// Entries of one gateway, as it was when they arrived, on their way to the store.

import { type BatchBodies, type Bodies, LogBatchWriter } from '../store/log-batch/batch.ts'
import type { Gateway, LogSummary } from '../store/records/records.ts'
import type { Waiting } from './backlog.ts'
import { redactedBodies } from './redacted-bodies.ts'

/** Removes credentials of this gateway from bodies of many entries at once: nobody gets them before. */
export class Batch extends LogBatchWriter implements Waiting {
  readonly gateway: Gateway
  /** Whether the store may already have it. */
  isRepeated = false
  readonly #streams = new Set<number>()

  constructor(gateway: Gateway) {
    super()
    this.gateway = gateway
  }

  override add(entry: LogSummary, bodies: Bodies): void {
    if (entry.streamed) this.#streams.add(this.count)
    super.add(entry, bodies)
  }

  protected override cleaned(bodies: BatchBodies, first: number): BatchBodies {
    return redactedBodies(bodies, entry => this.#streams.has(first + entry))
  }
}
