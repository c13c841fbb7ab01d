// The handlers of the budgets of an AI gateway: what was spent of each, and one that starts over.

import { type CompiledRule, rulesOfGateway } from '../../budgets/buckets.ts'
import { auditOf } from '../../store/records/audit-entry.ts'
import type { Gateway } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Api, Call } from '../api/api-types.ts'
import { type ApiResponse, failure, success } from '../http/envelope.ts'
import {
  type KnownCalls,
  noCalls,
  resetBudgets,
  resetValues,
  ruleNamed,
  viewBudgets,
} from '../spend-limits/budgets.ts'
import { findGateway, noGateway } from './gateways.ts'
import { knownCalls } from './known-callers.ts'

/** Lists the rules in effect, each with its buckets that are known to have spent something. */
export async function listGatewayBudgets(
  { account, params, now }: Call,
  { store }: Api,
): Promise<ApiResponse> {
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const rules = rulesOfGateway(gateway)
  const calls = await knownFor(rules, gateway, store)
  return success(await viewBudgets(rules, gateway, calls, store, now))
}

/** Starts the budgets of a rule over, or one of them: by the id of the rule, or of the budget. */
export async function resetGatewayBudget(call: Call, { store, log }: Api): Promise<ApiResponse> {
  const { account, params, now } = call
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const id = params.budget_id!
  const rule = ruleNamed(rulesOfGateway(gateway), id, now)
  if (rule === undefined) return noBudget
  const calls = await knownFor([rule], gateway, store)
  const resource = { resourceKind: 'gateway', resource: gateway.id } as const
  const audit = auditOf(call, 'reset', resource, [], resetValues(id))
  return success(await resetBudgets({ rule, id, owner: gateway, audit }, calls, { store, log }, now))
}

const noBudget = failure('no_such', 'Budget')

async function knownFor(rules: readonly CompiledRule[], gateway: Gateway, store: Store): Promise<KnownCalls> {
  return rules.some(({ partitionedBy }) => partitionedBy.length > 0) ? knownCalls(gateway, store) : noCalls
}
