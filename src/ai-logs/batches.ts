// The batches that are being filled, one per gateway, and the reused memory of those that were written.

import { LogBatchWriter } from '../store/log-batch/writer.ts'
import type { Gateway } from '../store/records/records.ts'
import type { Waiting } from './backlog.ts'

/** Entries of one gateway, as it was when they arrived. */
export class Batch implements Waiting {
  readonly gateway: Gateway
  readonly writer: LogBatchWriter
  /** Whether the store may already have it. */
  isRepeated = false

  constructor(gateway: Gateway, writer: LogBatchWriter) {
    this.gateway = gateway
    this.writer = writer
  }

  get count(): number {
    return this.writer.count
  }

  get weight(): number {
    return this.writer.weight
  }

  get earliest(): number {
    return this.writer.earliest
  }

  get latest(): number {
    return this.writer.latest
  }
}

/** How many batches pass their memory on to new ones, and how large it may be. */
const mostSpare = 4
const largestSpare = 2 * 1024 * 1024

export class Batches {
  readonly #open = new Map<Gateway, Batch>()
  readonly #spare: LogBatchWriter[] = []

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  /** Returns the batch that is being filled. */
  of(gateway: Gateway): Batch {
    const known = this.#open.get(gateway)
    if (known !== undefined) return known
    const batch = new Batch(gateway, this.#spare.pop() ?? new LogBatchWriter())
    this.#open.set(gateway, batch)
    return batch
  }

  /** Removes the batch of a gateway from those that are being filled. */
  end(batch: Batch): void {
    this.#open.delete(batch.gateway)
  }

  /** Returns the batches that are being filled. */
  all(): readonly Batch[] {
    return [...this.#open.values()]
  }

  /** Takes back the memory of a batch that is no longer needed. */
  recycle({ writer }: Batch): void {
    if (this.#spare.length === mostSpare || writer.weight > largestSpare) return
    writer.clear()
    this.#spare.push(writer)
  }
}
