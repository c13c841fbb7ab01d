// Entries of one gateway, as it was when they arrived, on their way to the store.

import { LogBatchWriter } from '../store/log-batch/batch.ts'
import type { Gateway } from '../store/records/records.ts'
import type { Waiting } from './backlog.ts'

export class Batch extends LogBatchWriter implements Waiting {
  readonly gateway: Gateway
  /** Whether the store may already have it. */
  isRepeated = false

  constructor(gateway: Gateway) {
    super()
    this.gateway = gateway
  }
}
