// The scenarios of the simulation, by the names under which they are run.

import { simulate as budgets } from '../help/budget-schedule.ts'
import { simulate as exchange } from './exchange.ts'
import { simulate as limits } from './limits.ts'
import { simulate as reload } from './reload.ts'
import { simulate as revocation } from './revocation.ts'
import { simulate as secrets } from './secrets.ts'
import type { Outcome } from './world.ts'

type Simulate = (seed: number, options?: { readonly traces?: boolean }) => Promise<Outcome>

export const scenarios: ReadonlyMap<string, Simulate> = new Map<string, Simulate>([
  ['budgets', budgets],
  ['revocation', revocation],
  ['exchange', exchange],
  ['secrets', secrets],
  ['limits', limits],
  ['reload', reload],
])
