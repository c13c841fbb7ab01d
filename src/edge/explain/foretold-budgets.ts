// Budgets for a question: they say what they would, and nothing is reserved.

import type { BudgetRefusal, LimitedBucket } from '../../budgets/charge.ts'
import { Reservation } from '../../budgets/reservation.ts'
import type { AiServices } from '../snapshot/plane.ts'

type Budgets = AiServices['budgets']

export class ForetoldBudgets implements Budgets {
  readonly #budgets: Pick<Budgets, 'foretell'>

  constructor(budgets: Pick<Budgets, 'foretell'>) {
    this.#budgets = budgets
  }

  async reserve(
    account: string,
    buckets: readonly LimitedBucket[],
    amounts: readonly number[],
  ): Promise<Reservation | BudgetRefusal> {
    const refusal = await this.foretell(account, buckets, amounts)
    return refusal ?? new Reservation(lender, account, buckets, amounts, [])
  }

  foretell(
    account: string,
    buckets: readonly LimitedBucket[],
    amounts: readonly number[],
  ): Promise<BudgetRefusal | null> {
    return this.#budgets.foretell(account, buckets, amounts)
  }
}

const lender = { lend: () => 'granted' as const }
