// Rate limits and quotas. Every limit that applies counts a request; if one refuses it, the others get their
// count back.

import type { Expression } from '../../expression/expression.ts'
import { holdsForAny } from '../../expression/readings.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { Spent } from '../../limits/key-count.ts'
import type { Limit } from '../../limits/limit.ts'
import type { Counting } from '../../limits/limiter.ts'
import { countRefusal } from '../steps/admit.ts'
import { refuseAmbiguousPath } from '../../errors/catalogue/ambiguous-path.ts'
import type { Exchange, Verdict } from '../exchange/exchange.ts'
import { talliesOf } from '../exchange/count-error.ts'
import { factsOf } from '../exchange/facts.ts'
import { secondsOf } from '../snapshot/limit-fields.ts'
import { keyOf, otherKeysOf } from './limit-key.ts'
import type { MeterRule } from '../snapshot/limit-rules.ts'

interface RuleCount {
  readonly rule: MeterRule
  readonly key: string
  /** Of the other readings of the path. */
  readonly others: readonly string[]
  spent: Spent | Promise<Spent>
}

interface SettledCount extends RuleCount {
  readonly spent: Spent
}

/**
 * Refuses a request over a rate limit (1015) or the quota of the zone (1027, 1025), or with a malformed path
 * that a limit reads (400). Waits for the store only near a limit.
 */
export function meter(x: Exchange): Verdict {
  const { limits } = (x.route ?? x.zone)!
  if (limits.length === 0) return null
  if (limits.some(readsPath) && x.paths === null) return refuseAmbiguousPath(x)
  return spend(x, limits)
}

/** Counts a call by the limits that need its verified token. */
export function meterApp(x: Exchange): Verdict {
  const limits = (x.route ?? x.zone)?.limits
  return limits?.some(needsToken) ? spend(x, limits.filter(needsToken), true) : null
}

/** Counts what is asked of an MCP server by the limits of its rules. */
export function meterMessages(x: Exchange, rules: readonly MeterRule[]): Verdict {
  return spend(x, rules, true)
}

function needsToken(rule: MeterRule): boolean {
  return rule.needsToken
}

/** Whether a limit that reads the path applies to a request. */
export function isCountedByPath(x: Exchange): boolean {
  return x.route!.limits.some(rule => readsPath(rule) && (rule.when === null || applies(x, rule.when)))
}

/** `isChecked`: whether the token of an AI call was verified. */
function spend(x: Exchange, rules: readonly MeterRule[], isChecked = x.ai === null): Verdict {
  const counts: RuleCount[] = []
  const end = spendSome(x, rules, 0, counts, isChecked)
  if (counts.some(isWaiting)) return spendRest(x, rules, end, counts, isChecked)
  return conclude(x, counts as SettledCount[])
}

const maxQueries = 8

/** Counts as many rules as fit into one turn. Returns the next, or the end if the request is refused. */
function spendSome(
  x: Exchange,
  rules: readonly MeterRule[],
  from: number,
  counts: RuleCount[],
  isChecked: boolean,
): number {
  const { limiter } = x.plane
  let queries = 0
  for (let i = from; i < rules.length; i++) {
    const rule = rules[i]!
    if (rule.needsToken && !isChecked) continue
    if (rule.when !== null && !applies(x, rule.when)) continue
    const key = keyOf(x, rule.key)
    const others = rule.readsPath ? otherKeysOf(x, rule.key) : none
    const spent =
      others.length === 0
        ? limiter.spend(rule.limit, key, x.startedAt)
        : spendAll(limiter, rule.limit, [key, ...others], x.startedAt)
    counts.push({ rule, key, others, spent })
    if (spent instanceof Promise) queries += 1 + others.length
    else if (!spent.isAllowed && rule.error !== null) return rules.length
    if (queries >= maxQueries) return i + 1
  }
  return rules.length
}

async function spendRest(
  x: Exchange,
  rules: readonly MeterRule[],
  from: number,
  counts: readonly RuleCount[],
  isChecked: boolean,
): Promise<Refusal | null> {
  let settled = await settle(counts)
  for (let next = from; next < rules.length && !settled.some(isOver); ) {
    await new Promise(setImmediate)
    const more: RuleCount[] = []
    next = spendSome(x, rules, next, more, isChecked)
    settled = [...settled, ...(await settle(more))]
  }
  return conclude(x, settled)
}

function isWaiting({ spent }: RuleCount): boolean {
  return spent instanceof Promise
}

function isOver({ rule, spent }: SettledCount): boolean {
  return !spent.isAllowed && rule.error !== null
}

const none: readonly string[] = []

function readsPath(rule: MeterRule): boolean {
  return rule.readsPath
}

/** If one of the keys refuses, the others get their count back. */
function spendAll(
  limiter: Counting,
  limit: Limit,
  keys: readonly string[],
  now: number,
): Spent | Promise<Spent> {
  const results = keys.map(key => limiter.spend(limit, key, now))
  const conclude = (settled: readonly Spent[]): Spent => {
    const lowest = settled.reduce(lesser)
    if (!lowest.isAllowed)
      for (const [i, { isAllowed }] of settled.entries()) if (isAllowed) limiter.giveBack(limit, keys[i]!)
    return lowest
  }
  return results.some(spent => spent instanceof Promise)
    ? Promise.all(results).then(conclude)
    : conclude(results as Spent[])
}

function lesser(a: Spent, b: Spent): Spent {
  if (a.isAllowed !== b.isAllowed) return a.isAllowed ? b : a
  return a.remaining < b.remaining || (a.remaining === b.remaining && a.wait >= b.wait) ? a : b
}

/** A rule whose expression fails applies, or clients could evade it. Metrics show the failure. */
function applies(x: Exchange, when: Expression<boolean>): boolean {
  const holds = holdsForAny(when, factsOf(x), x)
  if (holds === null) x.plane.metrics.expressionFailures.limits.inc()
  return holds !== false
}

async function settle(counts: readonly RuleCount[]): Promise<readonly SettledCount[]> {
  return Promise.all(counts.map(async count => ({ ...count, spent: await count.spent })))
}

function conclude(x: Exchange, counts: readonly SettledCount[]): Refusal | null {
  let exceeded: SettledCount | null = null
  for (const count of counts) if (exceeded === null && isOver(count)) exceeded = count
  for (const count of counts) note(x, count, exceeded)
  x.addedLines += fieldsOf(counts, exceeded)
  if (exceeded === null) return null
  if (exceeded.rule.error === 'rate_limited') countRefusal(x)
  return refusalOf(exceeded)
}

function note(x: Exchange, count: SettledCount, exceeded: SettledCount | null): void {
  const { rule, key, others, spent } = count
  if (count === exceeded) rule.decisions.note('limited')
  else if (!spent.isAllowed && rule.error === null) rule.decisions.note('logged')
  else if (exceeded === null) rule.decisions.note('allowed')
  if (count === exceeded || !spent.isAllowed) talliesOf(x).counter('limit', rule.hits).inc()
  if (exceeded === null || !spent.isAllowed) return
  x.plane.limiter.giveBack(rule.limit, key)
  for (const other of others) x.plane.limiter.giveBack(rule.limit, other)
}

function refusalOf({ rule, spent }: SettledCount): Refusal {
  const { error, cause } = rule
  return refuse(error!, error === 'rate_limited' ? { retryAfter: secondsOf(spent.wait) } : undefined, cause)
}

/** RateLimit is about the limit with the least left, RateLimit-Policy about all. */
function fieldsOf(counts: readonly SettledCount[], exceeded: SettledCount | null): string {
  let policies = ''
  let binding: SettledCount | null = null
  for (const count of counts) {
    const { fields } = count.rule
    if (fields === null) continue
    // Each message of a batch counts.
    if (policies === '') policies = fields.policy
    else if (!policies.includes(fields.policy)) policies = `${policies}, ${fields.policy}`
    if (count === exceeded || binding === null || count.spent.remaining < binding.spent.remaining)
      binding = count
    if (count === exceeded) break
  }
  return binding === null ? '' : binding.rule.fields!.lines(binding.spent, policies)
}
