// What one AI call has reserved in all its budgets, by the units of their rules, until its use is known.

import type { BudgetUnit } from '../store/records/budget-rule.ts'
import type { Reservation } from './reservation.ts'

/** What a call used; null where that is unknown. */
interface CallUse {
  /** Whether the provider may have worked for it. */
  readonly isBillable: boolean
  /** US dollars. */
  readonly cost: number | null
  readonly tokens: number | null
}

export class CallBudget {
  readonly #reservation: Reservation
  readonly #units: readonly BudgetUnit[]
  /** Nanodollars of a call whose model has no price; null if it has one. */
  readonly #flatCost: number | null

  constructor(reservation: Reservation, units: readonly BudgetUnit[], flatCost: number | null) {
    this.#reservation = reservation
    this.#units = units
    this.#flatCost = flatCost
  }

  /** Charges what was used; where that is unknown, all that was reserved. */
  settle({ isBillable, cost, tokens }: CallUse): void {
    const { reserved } = this.#reservation
    this.#reservation.settle(
      this.#units.map((unit, i) => {
        if (unit === 'concurrency') return 0
        if (unit === 'tokens') return tokens ?? (isBillable ? reserved[i]! : 0)
        const known = cost === null ? this.#flatCost : nanodollars(cost)
        return isBillable || cost !== null ? (known ?? reserved[i]!) : 0
      }),
    )
  }

  /** Charges nothing: no provider was asked. */
  release(): void {
    this.#reservation.settle(this.#units.map(() => 0))
  }

  /** Charges all that was reserved: nobody knows what the call used. */
  settleWhole(): void {
    const { reserved } = this.#reservation
    this.#reservation.settle(this.#units.map((unit, i) => (unit === 'concurrency' ? 0 : reserved[i]!)))
  }
}

/** Rounds up, but for what floating point adds. */
export function nanodollars(dollars: number): number {
  return Math.ceil(dollars * 1e9 - 1e-3)
}
