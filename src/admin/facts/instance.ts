// What the management API knows of its own gateway; provided by `process`.

import type { RequestHistory } from '../../activity/request-history.ts'

export interface Instance {
  readonly version: string
  /** Ms since the epoch. */
  readonly startedAt: number
  /** How many processes serve requests besides this one; with 0, this one does. */
  /** The date of the list prices of models, as 2026-01-31; null if none is stated. */
  readonly priceDate: string | null
  readonly workers: number
  readonly requests: RequestHistory
}
