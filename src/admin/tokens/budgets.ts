// The handlers of the budgets of an API token: what was spent of each, and one that starts over.

import { isId } from '../../base/ids/id.ts'
import { rulesOfToken } from '../../budgets/buckets.ts'
import { auditOf, tokenResource } from '../../store/records/audit-entry.ts'
import type { Token } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Api, Call, UserCall } from '../api/api-types.ts'
import { type ApiResponse, failure, success } from '../http/envelope.ts'
import { noCalls, resetBudgets, resetValues, ruleNamed, viewBudgets } from '../spend-limits/budgets.ts'
import { findOwnToken } from './own-tokens.ts'
import { powersBeyond, spendingBeyond } from './reach.ts'
import { noToken, untouchable } from './tokens.ts'

/** Lists the rules in effect, each with its one bucket. */
export async function listTokenBudgets({ account, params, now }: Call, { store }: Api): Promise<ApiResponse> {
  const token = await findToken(account, params.token_id!, store)
  return token === null ? noToken : budgetsOf(token, store, now)
}

/** Lists those of a token that the user has made for themselves. */
export async function listOwnTokenBudgets(call: UserCall, { store }: Api): Promise<ApiResponse> {
  const token = await findOwnToken(call, store)
  return token === null ? noToken : budgetsOf(token, store, call.now)
}

/** Starts a budget over, by its id or that of its rule; not for tokens that have budgets themselves. */
export async function resetTokenBudget(call: Call, { store, log }: Api): Promise<ApiResponse> {
  const { account, caller, params, now } = call
  const token = await findToken(account, params.token_id!, store)
  if (token === null) return noToken
  const id = params.budget_id!
  const rule = ruleNamed(rulesOfToken(token), id, now)
  if (rule === undefined) return noBudget
  const { policies } = token
  const refusal = untouchable([...powersBeyond(policies, caller), ...spendingBeyond(policies, caller)])
  if (refusal) return refusal
  const audit = auditOf(call, 'reset', tokenResource(token), [], resetValues(id))
  return success(await resetBudgets({ rule, id, owner: token, audit }, noCalls, { store, log }, now))
}

const noBudget = failure('no_such', 'Budget')

async function findToken(account: string, id: string, { tokens }: Store): Promise<Token | null> {
  return (isId(id) ? await tokens.get(account, id) : null)?.record ?? null
}

async function budgetsOf(token: Token, store: Store, now: number): Promise<ApiResponse> {
  return success(await viewBudgets(rulesOfToken(token), token, noCalls, store, now))
}
