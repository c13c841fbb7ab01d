// Step 4: whether there is allowance left for a request. All limits that apply are asked at once; what one refuses is given back to the others.
import type { Expression } from '../base/expression.ts'
import { type Refusal, refuse } from '../errors/refusal.ts'
import type { Spent } from '../limits/key-count.ts'
import { noteRefusal } from './admit.ts'
import type { Exchange, Verdict } from './exchange.ts'
import { factsOf } from './exchange-facts.ts'
import { secondsOf } from './limit-fields.ts'
import { keyOf } from './meter-key.ts'
import type { MeterRule } from './meter-rules.ts'

/** What one rule counted. */
interface Counted {
  readonly rule: MeterRule
  readonly key: string
  spent: Spent | Promise<Spent>
}

interface Settled extends Counted {
  readonly spent: Spent
}

/** Refuses what is over a rate limit (1015) or over the quota of the zone (1027, 1025); waits for the store only near a limit. */
export function meter(x: Exchange): Verdict {
  if (x.isMetered) return x.limited
  x.isMetered = true
  const { limits } = (x.route ?? x.zone)!
  return limits.length === 0 ? null : spend(x, limits)
}

function spend(x: Exchange, rules: readonly MeterRule[]): Verdict {
  const { limiter } = x.plane
  const counted: Counted[] = []
  let isWaiting = false
  for (const rule of rules) {
    if (rule.when !== null && !counts(x, rule.when)) continue
    const key = keyOf(x, rule.key)
    const spent = limiter.spend(rule.limit, key, x.startedAt)
    counted.push({ rule, key, spent })
    if (spent instanceof Promise) isWaiting = true
    else if (!spent.isAllowed && rule.error !== null) break
  }
  if (isWaiting) return settle(counted).then(settled => void (x.limited = conclude(x, settled)))
  return conclude(x, counted as Settled[])
}

/** Whether a rule counts a request; one whose expression fails does, or clients would make it fail, and shows in the metrics. */
function counts(x: Exchange, when: Expression<boolean>): boolean {
  const answer = when.evaluate(factsOf(x))
  if (answer === null) x.plane.metrics.expressionFailures.limits.inc()
  return answer !== false
}

async function settle(counted: readonly Counted[]): Promise<readonly Settled[]> {
  return Promise.all(counted.map(async ({ rule, key, spent }) => ({ rule, key, spent: await spent })))
}

function conclude(x: Exchange, counted: readonly Settled[]): Refusal | null {
  let over: Settled | null = null
  for (const one of counted) if (over === null && !one.spent.isAllowed && one.rule.error !== null) over = one
  for (const one of counted) note(x, one, over)
  x.limitFields = fieldsOf(counted, over)
  if (over === null) return null
  if (over.rule.error === 'rate_limited') noteRefusal(x)
  return refusalOf(over)
}

/** Counts what was decided, and gives back what was spent on a request that goes nowhere. */
function note(x: Exchange, one: Settled, over: Settled | null): void {
  const { rule, key, spent } = one
  if (one === over) rule.decisions.limited.inc()
  else if (!spent.isAllowed && rule.error === null) rule.decisions.logged.inc()
  else if (over === null) rule.decisions.allowed.inc()
  if (over !== null && spent.isAllowed) x.plane.limiter.giveBack(rule.limit, key)
}

function refusalOf({ rule, spent }: Settled): Refusal {
  const { error, cause } = rule
  return refuse(error!, error === 'rate_limited' ? { retryAfter: secondsOf(spent.wait) } : undefined, cause)
}

/** Writes RateLimit for the limit with the least left, and RateLimit-Policy for all that counted the request. */
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
