// Rate limits and quotas. Every limit that applies counts a request; if one refuses it, the others get their
// count back.

import type { Expression } from '../../expression/expression.ts'
import { holdsForAny } from '../../expression/readings.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { Spent } from '../../limits/key-count.ts'
import type { Limit } from '../../limits/limit.ts'
import type { Counting } from '../../limits/limiter.ts'
import { noteRefusal } from '../steps/admit.ts'
import { refuseAmbiguousPath } from '../../errors/catalogue/ambiguous-path.ts'
import type { Exchange, Verdict } from '../exchange/exchange.ts'
import { talliesOf } from '../exchange/count-error.ts'
import { factsOf } from '../exchange/facts.ts'
import { secondsOf } from '../snapshot/limit-fields.ts'
import { keyOf, otherKeysOf } from './limit-key.ts'
import type { MeterRule } from '../snapshot/limit-rules.ts'

/** The count of a request by one rule. */
interface Counted {
  readonly rule: MeterRule
  readonly key: string
  /** If the rule counts by path and origins may read that in several ways: the keys of the other readings. */
  readonly others: readonly string[]
  spent: Spent | Promise<Spent>
}

interface Settled extends Counted {
  readonly spent: Spent
}

/**
 * Refuses a request over a rate limit (1015) or over the quota of the zone (1027, 1025), or with a malformed
 * path that a limit reads (400). Waits for the store only near a limit.
 */
export function meter(x: Exchange): Verdict {
  const { limits } = (x.route ?? x.zone)!
  if (limits.length === 0) return null
  if (limits.some(readsPath) && x.paths === null) return refuseAmbiguousPath(x)
  return spend(x, limits)
}

/** Counts an AI call whose token was verified by the limits that need it, like `meter`. */
export function meterApp(x: Exchange): Verdict {
  const limits = (x.route ?? x.zone)?.limits
  return limits?.some(needsToken) ? spend(x, limits.filter(needsToken), true) : null
}

function needsToken(rule: MeterRule): boolean {
  return rule.needsToken
}

/** Whether a limit that reads the path applies to a request. */
export function isCountedByPath(x: Exchange): boolean {
  return x.route!.limits.some(rule => readsPath(rule) && (rule.when === null || counts(x, rule.when)))
}

/** `isChecked`: whether the token of an AI call was verified. */
function spend(x: Exchange, rules: readonly MeterRule[], isChecked = x.ai === null): Verdict {
  const counted: Counted[] = []
  const end = spendSome(x, rules, 0, counted, isChecked)
  if (counted.some(isWaiting)) return spendRest(x, rules, end, counted, isChecked)
  return conclude(x, counted as Settled[])
}

/** Store queries per turn; each may cost some 30 µs. */
const mostAsked = 8

/**
 * Counts a request by the rules from `from` on, as many as fit into one turn. Returns the index of the next
 * rule, or the end if the request is refused.
 */
function spendSome(
  x: Exchange,
  rules: readonly MeterRule[],
  from: number,
  counted: Counted[],
  isChecked: boolean,
): number {
  const { limiter } = x.plane
  let asked = 0
  for (let i = from; i < rules.length; i++) {
    const rule = rules[i]!
    if (rule.needsToken && !isChecked) continue
    if (rule.when !== null && !counts(x, rule.when)) continue
    const key = keyOf(x, rule.key)
    const others = rule.readsPath ? otherKeysOf(x, rule.key) : none
    const spent =
      others.length === 0
        ? limiter.spend(rule.limit, key, x.startedAt)
        : spendAll(limiter, rule.limit, [key, ...others], x.startedAt)
    counted.push({ rule, key, others, spent })
    if (spent instanceof Promise) asked += 1 + others.length
    else if (!spent.isAllowed && rule.error !== null) return rules.length
    if (asked >= mostAsked) return i + 1
  }
  return rules.length
}

/** Continues after the store has replied, and others have had their turn. */
async function spendRest(
  x: Exchange,
  rules: readonly MeterRule[],
  from: number,
  counted: readonly Counted[],
  isChecked: boolean,
): Promise<Refusal | null> {
  let settled = await settle(counted)
  for (let next = from; next < rules.length && !settled.some(isOver); ) {
    await new Promise(setImmediate)
    const more: Counted[] = []
    next = spendSome(x, rules, next, more, isChecked)
    settled = [...settled, ...(await settle(more))]
  }
  return conclude(x, settled)
}

function isWaiting({ spent }: Counted): boolean {
  return spent instanceof Promise
}

function isOver({ rule, spent }: Settled): boolean {
  return !spent.isAllowed && rule.error !== null
}

const none: readonly string[] = []

function readsPath(rule: MeterRule): boolean {
  return rule.readsPath
}

/** Counts a request by several keys as if by one: if one of them refuses, the others get their count back. */
function spendAll(
  limiter: Counting,
  limit: Limit,
  keys: readonly string[],
  now: number,
): Spent | Promise<Spent> {
  const spents = keys.map(key => limiter.spend(limit, key, now))
  const conclude = (settled: readonly Spent[]): Spent => {
    const least = settled.reduce(lesser)
    if (!least.isAllowed)
      for (const [i, { isAllowed }] of settled.entries()) if (isAllowed) limiter.giveBack(limit, keys[i]!)
    return least
  }
  return spents.some(spent => spent instanceof Promise)
    ? Promise.all(spents).then(conclude)
    : conclude(spents as Spent[])
}

/** Returns the one with less left, for longer. */
function lesser(a: Spent, b: Spent): Spent {
  if (a.isAllowed !== b.isAllowed) return a.isAllowed ? b : a
  return a.remaining < b.remaining || (a.remaining === b.remaining && a.wait >= b.wait) ? a : b
}

/**
 * Whether a rule applies to a request. A rule whose expression fails does, or clients could evade it by
 * making it fail. The failure shows in the metrics.
 */
function counts(x: Exchange, when: Expression<boolean>): boolean {
  const answer = holdsForAny(when, factsOf(x), x)
  if (answer === null) x.plane.metrics.expressionFailures.limits.inc()
  return answer !== false
}

async function settle(counted: readonly Counted[]): Promise<readonly Settled[]> {
  return Promise.all(counted.map(async one => ({ ...one, spent: await one.spent })))
}

function conclude(x: Exchange, counted: readonly Settled[]): Refusal | null {
  let over: Settled | null = null
  for (const one of counted) if (over === null && isOver(one)) over = one
  for (const one of counted) note(x, one, over)
  x.addedLines += fieldsOf(counted, over)
  if (over === null) return null
  if (over.rule.error === 'rate_limited') noteRefusal(x)
  return refusalOf(over)
}

/** Counts the decision, and gives the count back for a refused request. */
function note(x: Exchange, one: Settled, over: Settled | null): void {
  const { rule, key, others, spent } = one
  if (one === over) rule.decisions.note('limited')
  else if (!spent.isAllowed && rule.error === null) rule.decisions.note('logged')
  else if (over === null) rule.decisions.note('allowed')
  if (one === over || !spent.isAllowed) talliesOf(x).counter('limit', rule.hits).inc()
  if (over === null || !spent.isAllowed) return
  x.plane.limiter.giveBack(rule.limit, key)
  for (const other of others) x.plane.limiter.giveBack(rule.limit, other)
}

function refusalOf({ rule, spent }: Settled): Refusal {
  const { error, cause } = rule
  return refuse(error!, error === 'rate_limited' ? { retryAfter: secondsOf(spent.wait) } : undefined, cause)
}

/**
 * Writes RateLimit for the limit with the least left, and RateLimit-Policy for all that counted the request.
 */
function fieldsOf(counted: readonly Settled[], over: Settled | null): string {
  let policies = ''
  let binding: Settled | null = null
  for (const one of counted) {
    const { fields } = one.rule
    if (fields === null) continue
    policies = policies === '' ? fields.policy : `${policies}, ${fields.policy}`
    if (one === over || binding === null || one.spent.remaining < binding.spent.remaining) binding = one
    if (one === over) break
  }
  return binding === null ? '' : binding.rule.fields!.lines(binding.spent, policies)
}
