// What every store promises, as tests: storeContract runs them on one backend.
import type { TestContext } from 'node:test'
import type { Clock } from '../../src/base/clock.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { accountsContract } from './contract-accounts.ts'
import { responsesContract } from './contract-responses.ts'
import { answersContract } from './contract-answers.ts'
import { auditContract } from './contract-audit.ts'
import { budgetsContract } from './contract-budgets.ts'
import { changesContract } from './contract-changes.ts'
import { claimsContract } from './contract-claims.ts'
import { countersContract } from './contract-counters.ts'
import { credentialsContract } from './contract-credentials.ts'
import { dueContract } from './contract-due.ts'
import { exchangeContract } from './contract-exchange.ts'
import { logFiltersContract } from './contract-log-filters.ts'
import { logsContract } from './contract-logs.ts'
import { modelRoutesContract } from './contract-model-routes.ts'
import { oauthClientsContract } from './contract-oauth-clients.ts'
import { oauthGrantsContract } from './contract-oauth-grants.ts'
import { peopleContract } from './contract-people.ts'
import { policySetsContract } from './contract-policy-sets.ts'
import { recordsContract } from './contract-records.ts'
import { talliesContract } from './contract-tallies.ts'
import { togetherContract } from './contract-together.ts'
import { tokensContract } from './contract-tokens.ts'
import { trustContract } from './contract-trust.ts'
import { zonesContract } from './contract-zones.ts'

/** Opens one more handle on the place of a test, as another process would, with a clock of its own if one is given; it is closed when the test ends. */
export type OpenStore = (clock?: Clock) => Promise<Store>

/** Makes an empty place for the stores of one test. */
export type Place = (t: TestContext) => OpenStore | Promise<OpenStore>

/** Declares the tests; `name` stands before each of theirs. */
export function storeContract(name: string, place: Place): void {
  accountsContract(name, place)
  recordsContract(name, place)
  modelRoutesContract(name, place)
  policySetsContract(name, place)
  tokensContract(name, place)
  oauthClientsContract(name, place)
  peopleContract(name, place)
  credentialsContract(name, place)
  exchangeContract(name, place)
  oauthGrantsContract(name, place)
  zonesContract(name, place)
  dueContract(name, place)
  togetherContract(name, place)
  responsesContract(name, place)
  auditContract(name, place)
  changesContract(name, place)
  logsContract(name, place)
  logFiltersContract(name, place)
  countersContract(name, place)
  budgetsContract(name, place)
  talliesContract(name, place)
  answersContract(name, place)
  claimsContract(name, place)
  trustContract(name, place)
}
