// Reserves what an AI call may spend before its provider is asked, and refuses a call that does not fit.

import { withoutQuery } from '../../base/path/path.ts'
import { worstCaseOf } from '../../ai/usage/worst-case.ts'
import { bucketsOf } from '../../budgets/buckets.ts'
import { type PolicyLimit, policyBuckets } from '../../budgets/policies/decide.ts'
import type { BudgetRule as Rule } from '../../budgets/rule-buckets.ts'
import { CallBudget, nanodollars } from '../../budgets/call-budget.ts'
import type { BudgetRefusal, Charge } from '../../budgets/charge.ts'
import type { Reservation } from '../../budgets/reservation.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { type BudgetUnit, usualMaxTokens } from '../../store/records/budget-rule.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange, Verdict } from '../exchange/exchange.ts'
import { secondsOf } from '../snapshot/limit-fields.ts'
import { calledModel } from '../ai/token-limits.ts'
import { budgetLines, refusedLines } from './budget-fields.ts'
import { countDecision } from './count-budget.ts'

/**
 * Reserves for the model of the present attempt, and gives back what an earlier one reserved. Refuses a call
 * over a limit (1015), one that can never fit or whose model has no price (403), and one whose limits cannot
 * be counted (503). Waits for the store near a limit.
 */
export function reserveFor(x: Exchange, ai: AiExchange): Verdict {
  ai.budget?.release()
  ai.budget = null
  say(x, ai, '')
  const body = ai.body ?? noBody
  const path = withoutQuery(ai.path)
  const provider = ai.provider!.name
  const model = ai.model ?? calledModel(ai, ai.provider!, ai.path, body)
  const now = x.plane.clock.now()
  const ofRules = bucketsOf(ai.gateway!, ai.token, { provider, model, metadata: ai.metadata }, now)
  const limits = ai.allowance?.limits ?? noLimits
  const buckets = limits.length === 0 ? ofRules : [...ofRules, ...policyBuckets(limits, now)]
  if (buckets.length === 0) return null
  const worst = worstCaseOf(body, path, provider, ai.gateway!.defaultMaxTokens ?? usualMaxTokens)
  const { tokensIn, tokensOut, searches } = worst
  const known = x.plane.ai!.prices.worstCost(provider, model, tokensIn, tokensOut, searches)
  const flat =
    known === null && ai.gateway!.unpricedCost != null ? nanodollars(ai.gateway!.unpricedCost) : null
  const units = buckets.map(({ rule }) => rule.unit)
  const cost = known ?? flat
  const { atOnce } = x.plane.metrics.budgets
  if (x.upgrade === 'requested' && units.some(unit => unit !== 'concurrency')) {
    atOnce.without_bound.inc()
    return refuseForGood(ai, 'over', unboundedSession)
  }
  if (cost === null && units.includes('cost')) {
    atOnce.without_price.inc()
    return refuseForGood(ai, 'unpriced', JSON.stringify(`${provider}/${model ?? '?'}`))
  }
  if (worst.body !== null && ai.body !== null) ai.body = worst.body
  const amounts: Readonly<Record<BudgetUnit, number>> = {
    cost: cost ?? 0,
    tokens: tokensIn + tokensOut,
    concurrency: 1,
  }
  const charges = buckets.map(({ rule, bucket, window }): Charge => {
    const { limit, unit, whenUnreachable } = rule
    return { bucket, window, limit, amount: amounts[unit], whenUnreachable }
  })
  const conclude = (verdict: Reservation | BudgetRefusal, isAtOnce: boolean): Refusal | null => {
    countDecision(x, verdict, isAtOnce)
    if ('charges' in verdict) {
      // Its caller has left meanwhile.
      if (x.stage !== 'none') {
        new CallBudget(verdict, units, flat, asked).release()
        return null
      }
      ai.budget = new CallBudget(verdict, units, known === null ? flat : null, asked)
      say(x, ai, budgetLines(buckets, verdict, now))
      return null
    }
    const bucket = buckets[verdict.charge]!
    if (verdict.reason !== 'store_unreachable') say(x, ai, refusedLines(bucket, verdict, now))
    return refusalOf(ai, bucket.rule, verdict, asked(verdict.charge))
  }
  const asked = (charge: number): Asked => {
    const { unit } = buckets[charge]!.rule
    const inputCost = () => x.plane.ai!.prices.worstCost(provider, model, tokensIn, 0, searches)
    const input = unit === 'cost' ? (inputCost() ?? amounts.cost) : unit === 'tokens' ? tokensIn : 1
    return { tokensOut, input, amount: charges[charge]!.amount }
  }
  const verdict = x.plane.ai!.budgets.reserve(ai.gateway!.account, charges)
  return verdict instanceof Promise
    ? verdict.then(verdict => conclude(verdict, false))
    : conclude(verdict, true)
}

/** Replaces what was said of an earlier attempt. */
function say(x: Exchange, ai: AiExchange, lines: string): void {
  if (ai.budgetLines !== '') x.addedLines = x.addedLines.replace(ai.budgetLines, '')
  x.addedLines += lines
  ai.budgetLines = lines
}

/** Bounds a body that was made again for an attempt at the same model. */
export function boundAgain({ body, path, provider, gateway }: AiExchange): Buffer | null {
  if (body === null) return null
  const defaultMax = gateway!.defaultMaxTokens ?? usualMaxTokens
  return worstCaseOf(body, withoutQuery(path), provider!.name, defaultMax).body ?? body
}

const unboundedSession =
  'spend limits in US dollars or tokens govern this call, and what a WebSocket session uses has no bound'

const noBody = Buffer.alloc(0)
const noLimits: readonly PolicyLimit[] = []

interface Asked {
  readonly tokensOut: number
  /** What the call may take, and what its input takes of that. */
  readonly amount: number
  readonly input: number
}

function refusalOf(ai: AiExchange, rule: Rule, refused: BudgetRefusal, asked: Asked): Refusal {
  const { reason, wait } = refused
  if (reason === 'store_unreachable') return refuse('service_unavailable')
  const spent = `${amountOf(refused.spent, rule.unit)} of ${amountOf(refused.limit, rule.unit)}`
  if (reason === 'never') return refuseForGood(ai, 'over', neverText(rule, refused, asked))
  const retryAfter = secondsOf(wait)
  const detail = `The ${rule.owner} has a spend limit, ${nameOf(rule)}, of which ${spent} are spent or reserved; this call may take ${amountOf(asked.amount, rule.unit)}.`
  const wording = {
    heading: 'Spend limit reached',
    detail,
    guidance: `**Wait and retry.** Such a call fits again in ${retryAfter} s at the latest, if nothing else is spent; a call with a smaller maximum of tokens may fit earlier.`,
    isOfRequest: true,
  }
  const mayRetry = retryAfter > longestRetry ? false : null
  return refuse('rate_limited', { retryAfter, mayRetry, wording }, { code: `spend limit ${nameOf(rule)}` })
}

function nameOf({ id, name }: Rule): string {
  return name === undefined ? id : JSON.stringify(name)
}

/** Seconds that SDKs of providers may wait by themselves. */
const longestRetry = 60

function neverText(rule: Rule, { limit }: BudgetRefusal, { tokensOut, amount, input }: Asked): string {
  const text = `the spend limit ${nameOf(rule)} of the ${rule.owner} is ${amountOf(limit, rule.unit)}, and this call may take ${amountOf(amount, rule.unit)}`
  const most = amount > input ? Math.floor((tokensOut * (limit - input)) / (amount - input)) : 0
  return most > 0 ? `${text}; with max_tokens of at most ${most} it could fit` : text
}

function amountOf(amount: number, unit: BudgetUnit): string {
  if (unit === 'cost') return `$${Number((amount / 1e9).toFixed(6))}`
  return unit === 'tokens' ? `${amount} tokens` : `${amount} concurrent calls`
}

const codes = {
  rest: { over: 'call_beyond_limit', unpriced: 'call_without_price' },
  native: { over: 'native_beyond_limit', unpriced: 'native_without_price' },
} as const

function refuseForGood({ target }: AiExchange, kind: 'over' | 'unpriced', text: string): Refusal {
  return refuseCall(codes[target.api === 'rest' ? 'rest' : 'native'][kind], text)
}
