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
  /** About how many tokens came of a response that broke off; null for any other. */
  readonly tokensOut: number | null
}

/** Of what is reserved for a call. */
interface Parts {
  /** Tokens that the call may produce. */
  readonly tokensOut: number
  /** What the input takes, in the unit of the charge. */
  readonly input: number
}

export class CallBudget {
  readonly #reservation: Reservation
  readonly #units: readonly BudgetUnit[]
  /** Nanodollars of a call whose model has no price; null if it has one. */
  readonly #flatCost: number | null
  readonly #partsOf: (charge: number) => Parts

  constructor(
    reservation: Reservation,
    units: readonly BudgetUnit[],
    flatCost: number | null,
    partsOf: (charge: number) => Parts,
  ) {
    this.#reservation = reservation
    this.#units = units
    this.#flatCost = flatCost
    this.#partsOf = partsOf
  }

  /** Charges what was used; where that is unknown, all that was reserved. */
  settle({ isBillable, cost, tokens, tokensOut }: CallUse): void {
    this.#reservation.settle(
      this.#units.map((unit, i) => {
        if (unit === 'concurrency') return 0
        if (unit === 'tokens') return tokens ?? (isBillable ? this.#upTo(i, tokensOut) : 0)
        if (cost !== null) return nanodollars(cost)
        return isBillable ? (this.#flatCost ?? this.#upTo(i, tokensOut)) : 0
      }),
    )
  }

  /** Charges nothing: no provider was asked. */
  release(): void {
    this.#reservation.settle(this.#units.map(() => 0))
  }

  /** Charges all that was reserved: nobody knows what the call used. */
  settleWhole(): void {
    this.#reservation.settle(this.#units.map((unit, i) => (unit === 'concurrency' ? 0 : this.#upTo(i, null))))
  }

  /** Returns what is reserved for the input and so many tokens of output, or for all if that is null. */
  #upTo(charge: number, tokens: number | null): number {
    const reserved = this.#reservation.reserved[charge]!
    if (tokens === null) return reserved
    const { tokensOut, input } = this.#partsOf(charge)
    return tokens < tokensOut ? Math.ceil(input + ((reserved - input) * tokens) / tokensOut) : reserved
  }
}

/** Rounds up, but for what floating point adds. */
export function nanodollars(dollars: number): number {
  return Math.ceil(dollars * 1e9 - 1e-3)
}
