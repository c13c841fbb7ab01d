// The webhooks of a gateway that say how much of its budgets is spent, and what was delivered to them: one
// record, so that of all processes one claims a delivery.

/** The id of the one record of each gateway. */
export const budgetAlertSetId = 'alerts'

export interface BudgetAlertSet {
  /** The owner: `account/gateway`. The record ends with its gateway. */
  readonly account: string
  readonly id: typeof budgetAlertSetId
  readonly alerts: readonly BudgetAlert[]
  readonly deliveries: readonly AlertDelivery[]
  readonly createdAt: number
}

export interface BudgetAlert {
  readonly id: string
  /** https. */
  readonly url: string
  /** Percent of a limit, ascending. */
  readonly thresholds: readonly number[]
  /** The newest first; all that have not ended sign. */
  readonly secrets: readonly AlertSecret[]
  readonly createdAt: number
}

export interface AlertSecret {
  readonly sealed: string
  /** Ms since the epoch; null for the one that was not rotated. */
  readonly endsAt: number | null
}

/** That a budget reached a threshold: it stays while the budget is above it, so that it is told once. */
export interface AlertDelivery {
  /** The same at each attempt (`webhook-id`). */
  readonly id: string
  readonly alert: string
  readonly bucket: string
  readonly threshold: number
  /** What is sent: JSON as it was when the threshold was reached. */
  readonly body: string
  readonly createdAt: number
  readonly attempts: number
  /** When the next attempt is due; null if it was delivered, or given up. */
  readonly nextAt: number | null
  /** Why the last attempt failed; null if none did. */
  readonly failure: string | null
  /** When it may be told again, in ms since the epoch: once the budget starts over. */
  readonly until: number
}
