// The scenarios of the simulation, by the names under which they are run.

import { simulate as budgets } from '../help/budget-schedule.ts'
import { simulate as certificates } from './certificates.ts'
import { simulate as exchange } from './exchange.ts'
import { simulate as handOver } from './hand-over.ts'
import { simulate as limits } from './limits.ts'
import { simulate as reload } from './reload.ts'
import { simulate as revocation } from './revocation.ts'
import { simulate as secrets } from './secrets.ts'
import { simulate as verification } from './verification.ts'
import type { Outcome } from './world.ts'

export type Simulate = (seed: number, options?: { readonly traces?: boolean }) => Promise<Outcome>

interface Scenario {
  readonly simulate: Simulate
  /** Of its file. */
  readonly url: string
}

const all = {
  budgets,
  revocation,
  exchange,
  secrets,
  limits,
  reload,
  verification,
  certificates,
  'hand-over': handOver,
}

export type ScenarioName = keyof typeof all

export const scenarios: ReadonlyMap<string, Scenario> = new Map(
  Object.entries(all).map(([name, simulate]) => {
    const file = name === 'budgets' ? '../help/budget-schedule.ts' : `./${name}.ts`
    return [name, { simulate, url: import.meta.resolve(file) }]
  }),
)
