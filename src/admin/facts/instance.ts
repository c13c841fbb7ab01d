// What the management API knows of the gateway that it is a part of. `process` gives it.

import type { RequestHistory } from '../../activity/request-history.ts'

export interface Instance {
  readonly version: string
  /** Ms since the epoch. */
  readonly startedAt: number
  /** How many processes serve requests beside this one; with 0 this one does. */
  /** Of the list prices of models, as 2026-01-31; null where nothing says it. */
  readonly priceDate: string | null
  readonly workers: number
  readonly requests: RequestHistory
}
