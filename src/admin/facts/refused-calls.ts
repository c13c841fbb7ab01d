// How many calls the budgets of an account refused lately.

import { budgetsScope } from '../../activity/tally-scopes.ts'
import { tallyKinds } from '../../store/records/tally.ts'
import type { Store } from '../../store/contract/store.ts'

/** Counts what each rule refused in the last day, by the names of `budgetHits`. */
export async function refusedCalls(account: string, { tallies }: Pick<Store, 'tallies'>, now: number) {
  const sums = await tallies.list('budget', budgetsScope(account), now - tallyKinds.budget.retention)
  return new Map(sums.map(({ name, slots }) => [name, slots.reduce((sum, [, count]) => sum + count, 0)]))
}
