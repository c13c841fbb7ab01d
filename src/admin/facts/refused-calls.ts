// How many calls the budgets and guards of an account refused lately.

import { budgetsScope, guardsScope } from '../../activity/tally-scopes.ts'
import { tallyKinds, type TallySum } from '../../store/records/tally.ts'
import type { Store } from '../../store/contract/store.ts'

/** Counts what each rule refused in the last day, by the names of `budgetHits`. */
export async function refusedCalls(account: string, { tallies }: Pick<Store, 'tallies'>, now: number) {
  return countsOf(await tallies.list('budget', budgetsScope(account), now - tallyKinds.budget.retention))
}

/** Counts the calls of each gateway about which its webhook gave no verdict in the last hour, by its id. */
export async function undecidedCalls(account: string, { tallies }: Pick<Store, 'tallies'>, now: number) {
  return countsOf(await tallies.list('limit', guardsScope(account), now - tallyKinds.limit.retention))
}

function countsOf(sums: readonly TallySum[]): ReadonlyMap<string, number> {
  return new Map(sums.map(({ name, slots }) => [name, slots.reduce((sum, [, count]) => sum + count, 0)]))
}
