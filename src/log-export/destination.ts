// Where batches go, and what can go wrong there.

import type { Batch } from './outbox.ts'

export const failureKinds = ['unreachable', 'timeout', 'rejected', 'disk'] as const

export interface DeliveryFailure {
  readonly kind: (typeof failureKinds)[number]
  readonly message: string
  /** Whether it stays until somebody changes something. */
  readonly isPermanent: boolean
  /** Ms for which the destination asks to be left alone; 0 for none. */
  readonly retryAfter: number
}

export interface Destination {
  /** Resolves once the destination has the batch for good, with null, or with what went wrong. */
  deliver(batch: Batch): Promise<DeliveryFailure | null>
  /** Called every second or so. */
  tick(now: number): void
  close(): void
}
