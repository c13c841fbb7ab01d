// Reserves what an AI call may spend before its provider is asked, and refuses a call that does not fit.

import { nanodollarsOf } from '../../base/units.ts'
import { insertMaxTokens } from '../../ai/worst-case/max-tokens.ts'
import { noSpending, type WorstCase, worstCaseOf } from '../../ai/worst-case/worst-case.ts'
import type { PassedRate } from '../../ai/failover/model-route.ts'
import { SessionWorstCase } from '../../ai/worst-case/session.ts'
import { bucketsOf } from '../../budgets/buckets.ts'
import { type PolicyLimit, policyBuckets } from '../../budgets/policies/decide.ts'
import { CallBudget, type Parts } from '../../budgets/call-budget.ts'
import type { BudgetRefusal } from '../../budgets/charge.ts'
import type { Bucket, BudgetRule } from '../../budgets/rule-buckets.ts'
import { amountInWords } from '../../budgets/rule-words.ts'
import type { Reservation } from '../../budgets/reservation.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import { errorRows } from '../../errors/catalogue/catalogue.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { type BudgetUnit, usualMaxTokens } from '../../store/records/budget-rule.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange, Verdict } from '../exchange/exchange.ts'
import type { AiServices } from '../snapshot/plane.ts'
import { secondsOf } from '../snapshot/limit-fields.ts'
import { isModelInPath, modelInPath } from '../ai/token-limits.ts'
import { budgetLines, refusedLines } from './budget-fields.ts'
import { countDecision, countRefused } from './count-budget.ts'
import { passedRates, rateBucket } from './route-rates.ts'

/**
 * Reserves for the model of the present attempt, and gives back what an earlier one reserved. Refuses a call
 * over a limit (1015), one that can never fit or whose model has no price (403), and one whose limits cannot
 * be counted (503). Waits for the store near a limit.
 */
export function reserveFor(x: Exchange, ai: AiExchange): Verdict {
  ai.budget?.release()
  ai.budget = null
  say(x, ai, '')
  const demand = new Demand(x, ai)
  const { worst, now } = demand
  const own = bucketsFor(ai, demand, now)
  const rates = passedRates(ai.course?.passed ?? null)
  const buckets = rates.length === 0 ? own : [...own, ...rates.map(passed => rateBucket(passed, now))]
  if (buckets.length === 0) return null
  demand.buckets = buckets
  demand.rates = rates
  const { atOnce } = x.plane.metrics.budgets
  const counted = buckets.find(isOfUse)
  if (counted !== undefined && worst === null) {
    atOnce.without_bound.inc()
    noteRefused(x, ai, counted.rule, rates)
    return refuseForGood(ai, 'over', x.upgrade === 'requested' ? unboundedSession : unboundedCall)
  }
  const cost = demand.price(ai.gateway!.unpricedCost ?? null)
  const unpriced = cost === null ? buckets.find(isOfCost) : undefined
  if (unpriced !== undefined) {
    atOnce.without_price.inc()
    noteRefused(x, ai, unpriced.rule, rates)
    return refuseForGood(ai, 'unpriced', JSON.stringify(`${demand.provider}/${demand.model ?? '?'}`))
  }
  if (counted !== undefined && worst!.insert !== null) ai.body = insertMaxTokens(ai.body!, worst!.insert)
  demand.amounts = amountsOf(buckets, cost, worst)
  const verdict = x.plane.ai!.budgets.reserve(ai.gateway!.account, buckets, demand.amounts)
  return verdict instanceof Promise
    ? verdict.then(verdict => conclude(x, ai, demand, verdict, false))
    : conclude(x, ai, demand, verdict, true)
}

function isOfUse({ rule }: Bucket): boolean {
  return rule.unit !== 'concurrency'
}

function isOfCost({ rule }: Bucket): boolean {
  return rule.unit === 'cost'
}

/** Counts a refusal by a budget; by a rate it is none yet, as the call goes beyond that. */
function noteRefused(x: Exchange, ai: AiExchange, rule: BudgetRule, [rate]: readonly PassedRate[]): void {
  if (rule.owner === 'route') ai.course!.exceed(rate!)
  else countRefused(x, ai, rule)
}

/** Bounds a body that was made again for an attempt at the same model. */
export function boundAgain(x: Exchange, ai: AiExchange): Buffer | null {
  const insert = ai.body === null ? null : (worstOf(x, ai)?.insert ?? null)
  return insert === null ? ai.body : insertMaxTokens(ai.body!, insert)
}

/** What the call asks for; null if nothing bounds that. */
function worstOf(x: Exchange, ai: AiExchange): WorstCase | null {
  if (x.upgrade === 'requested') return sessionModel(ai) === null ? null : firstResponse
  if (x.head.method === 'DELETE') return noSpending
  const { contentType, contentEncoding } = ai.fields
  if (contentEncoding !== null) return null
  const { provider, path, gateway } = ai
  return worstCaseOf({
    provider: provider!.name,
    model: ai.model ?? modelInPath(provider!, path),
    isNamedInPath: isModelInPath(path),
    path,
    contentType,
    body: ai.body ?? noBody,
    defaultMaxTokens: gateway!.defaultMaxTokens ?? usualMaxTokens,
  })
}

/** The model of a Realtime session; null for any other WebSocket. */
export function sessionModel({ provider, path }: AiExchange): string | null {
  return isModelInPath(path) ? null : modelInPath(provider!, path)
}

const firstResponse: WorstCase = { ...noSpending, ...new SessionWorstCase().ahead }

function bucketsFor(ai: AiExchange, { provider, model, worst }: Demand, now: number): readonly Bucket[] {
  const call = { provider, model, otherModels: worst?.otherModels ?? unknownModels, metadata: ai.metadata }
  const ofRules = bucketsOf(ai.gateway!, ai.token, call, now)
  const limits = ai.allowance?.limits ?? noLimits
  return limits.length === 0 ? ofRules : [...ofRules, ...policyBuckets(limits, now)]
}

/** The most that a call can spend in each bucket. */
function amountsOf(buckets: readonly Bucket[], cost: number | null, worst: WorstCase | null): number[] {
  const amounts: number[] = []
  for (const { rule } of buckets) amounts.push(amountIn(rule.unit, cost, worst))
  return amounts
}

function amountIn(unit: BudgetUnit, cost: number | null, worst: WorstCase | null): number {
  if (unit === 'concurrency') return 1
  return unit === 'cost' ? cost! : worst!.tokensIn + worst!.tokensOut
}

/** What a call asks of its budgets. It may outlive the exchange. */
class Demand {
  readonly provider: string
  readonly model: string | null
  /** Null if no bound is known. */
  readonly worst: WorstCase | null
  readonly now: number
  /** Those of the rates come last. */
  buckets: readonly Bucket[] = noBuckets
  rates: readonly PassedRate[] = noRates
  amounts: readonly number[] = noAmounts
  flatCost: number | null = null
  readonly #prices: AiServices['prices']

  constructor(x: Exchange, ai: AiExchange) {
    this.#prices = x.plane.ai!.prices
    this.provider = ai.provider!.name
    this.worst = worstOf(x, ai)
    this.model = ai.model ?? (this.worst === firstResponse ? sessionModel(ai) : (this.worst?.model ?? null))
    this.now = x.plane.clock.now()
  }

  /** Returns nanodollars; null if the model has no price, and such calls have none. */
  price(unpricedCost: number | null): number | null {
    if (this.worst === null) return 0
    const cost = this.#costOf(this.worst)
    if (cost !== null || unpricedCost === null) return cost
    const flat = nanodollarsOf(unpricedCost)
    const dearest = this.#costOf(this.worst, flat)
    if (dearest === flat) this.flatCost = flat
    return dearest
  }

  /** The tokens that one response may have; null where no such limit is sent. */
  get maxTokens(): number | null {
    return this.worst?.limit ?? null
  }

  partsOf(charge: number): Parts {
    const worst = this.worst
    const amount = this.amounts[charge]!
    const { unit } = this.buckets[charge]!.rule
    if (worst === null || unit === 'concurrency') return { tokensOut: 0, input: amount }
    const silent = { ...worst, tokensOut: 0, audioOut: 0 }
    const input = unit === 'tokens' ? worst.tokensIn : (this.#costOf(silent) ?? amount)
    return { tokensOut: worst.tokensOut, input }
  }

  /** For the dearest of all models that may be called, where `flat` is the cost of those without a price. */
  #costOf(worst: WorstCase, flat: number | null = null): number | null {
    if (worst === noSpending) return 0
    let dearest = this.#prices.worstCost(this.provider, this.model, worst) ?? flat
    for (const other of worst.otherModels) {
      const cost = (other === null ? null : this.#prices.worstCost(this.provider, other, worst)) ?? flat
      dearest = cost === null || dearest === null ? null : Math.max(cost, dearest)
    }
    return dearest
  }
}

function conclude(
  x: Exchange,
  ai: AiExchange,
  demand: Demand,
  verdict: Reservation | BudgetRefusal,
  isAtOnce: boolean,
): Refusal | null {
  const { buckets, rates, now } = demand
  const own = buckets.length - rates.length
  if ('buckets' in verdict) {
    countDecision(x, verdict, isAtOnce)
    const budget = new CallBudget(verdict, demand)
    // Its caller has left meanwhile.
    if (x.stage !== 'none') {
      budget.release()
      return null
    }
    ai.budget = budget
    if (own > 0)
      say(x, ai, budgetLines(own === buckets.length ? buckets : buckets.slice(0, own), verdict, now))
    return null
  }
  const exceeded = rates[verdict.charge - own]
  if (exceeded !== undefined) {
    ai.course!.exceed(exceeded)
    return refusalOf(ai, demand, verdict)
  }
  const bucket = buckets[verdict.charge]!
  countDecision(x, verdict, isAtOnce)
  if (verdict.reason !== 'store_unreachable') {
    countRefused(x, ai, bucket.rule)
    say(x, ai, refusedLines(bucket, verdict, now))
  }
  return refusalOf(ai, demand, verdict)
}

/** Replaces what was said of an earlier attempt. */
function say(x: Exchange, ai: AiExchange, lines: string): void {
  if (ai.budgetLines !== '') x.addedLines = x.addedLines.replace(ai.budgetLines, '')
  x.addedLines += lines
  ai.budgetLines = lines
}

const unboundedSession =
  'spend limits in US dollars or tokens govern this call, and what a WebSocket session uses has no known bound unless it is one of the Realtime API of OpenAI, with its model in the query'
const unboundedCall =
  'spend limits in US dollars or tokens govern this call, and what it uses has no known bound: it is no operation that this gateway knows, or its body is no plain JSON'

const noBody = Buffer.alloc(0)
const noBuckets: readonly Bucket[] = []
const unknownModels: WorstCase['otherModels'] = [null]
const noRates: readonly PassedRate[] = []
const noAmounts: readonly number[] = []
const noLimits: readonly PolicyLimit[] = []

function refusalOf(ai: AiExchange, demand: Demand, refused: BudgetRefusal): Refusal {
  const { reason, wait } = refused
  const { rule } = demand.buckets[refused.charge]!
  const amount = demand.amounts[refused.charge]!
  if (reason === 'store_unreachable') return uncounted(rule)
  if (reason === 'never') return refuseForGood(ai, 'over', neverText(demand, refused))
  const retryAfter = secondsOf(wait)
  const isOfUse = rule.unit !== 'concurrency'
  const spent = amountInWords(rule.unit, refused.spent)
  const wording = {
    heading: isOfUse ? 'Spend limit reached' : 'Limit of calls at a time reached',
    detail: isOfUse
      ? `The ${rule.owner} has a spend limit of ${inWords(rule)}. ${spent} of it are spent or reserved, and this call may take ${amountInWords(rule.unit, amount)}.`
      : `The ${rule.owner} has a limit of ${inWords(rule)}, and as many are under way.`,
    guidance: `**Wait and retry.** ${isOfUse ? outlook(demand, refused, retryAfter) : `A call fits as soon as one of those ends: in about ${retryAfter} s, by how long they take.`}`,
    isOfRequest: true,
  }
  const mayRetry = retryAfter > longestRetry ? false : null
  return refuse('rate_limited', { retryAfter, mayRetry, wording }, { code: `spend limit ${nameOf(rule)}` })
}

/** Refuses until the store can be asked what is spent. */
function uncounted(rule: BudgetRule): Refusal {
  const wording = {
    heading: errorRows.service_unavailable.title,
    detail: `The ${rule.owner} has a spend limit of ${inWords(rule)}, and what is spent of it cannot be counted right now. Your request was not sent to a provider.`,
    guidance:
      '**Wait and retry.** Try again no sooner than {retry_after} s from now. If the error persists, tell the operator of the gateway: its store is unreachable or takes no changes.',
    isOfRequest: true,
  }
  return refuse('service_unavailable', { wording }, { code: `spend limit ${nameOf(rule)} not counted` })
}

function outlook({ maxTokens }: Demand, { isEstimate }: BudgetRefusal, retryAfter: number): string {
  const earlier = maxTokens === null ? '' : ', and one with a smaller maximum of tokens maybe earlier'
  const when = isEstimate === true ? `about ${retryAfter} s, as calls under way end` : `${retryAfter} s`
  return `Such a call can fit again in ${when}${earlier}.`
}

/** Returns what a rule allows, and its id, such as `$5.00 a day (all)`. */
function inWords(rule: BudgetRule): string {
  return `${rule.words} (${nameOf(rule)})`
}

function nameOf({ id, name }: BudgetRule): string {
  return name === undefined ? id : JSON.stringify(name)
}

/** Seconds that SDKs of providers may wait by themselves. */
const longestRetry = 60

function neverText(demand: Demand, { charge, limit }: BudgetRefusal): string {
  const { rule } = demand.buckets[charge]!
  const amount = demand.amounts[charge]!
  const text = `the ${rule.owner} has a spend limit of ${inWords(rule)}, and this call may take ${amountInWords(rule.unit, amount)}`
  const { input } = demand.partsOf(charge)
  if (demand.maxTokens === null || amount <= input) return text
  const maxTokens = Math.floor((demand.maxTokens * (limit - input)) / (amount - input))
  return maxTokens > 0 ? `${text}; with max_tokens of at most ${maxTokens} it could fit` : text
}

const codes = {
  rest: { over: 'call_beyond_limit', unpriced: 'call_without_price' },
  native: { over: 'native_beyond_limit', unpriced: 'native_without_price' },
} as const

function refuseForGood({ target }: AiExchange, kind: 'over' | 'unpriced', text: string): Refusal {
  return refuseCall(codes[target.api === 'rest' ? 'rest' : 'native'][kind], text)
}
