// Step 4: whether there is allowance left for a request. All limits that apply are asked at once; what one refuses is given back to the others.
import { type Refusal, refuse } from '../errors/refusal.ts'
import type { Spent } from '../limits/key-count.ts'
import { noteRefusal } from './admit.ts'
import type { Exchange, Verdict } from './exchange.ts'
import { factsOf } from './exchange-facts.ts'
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
  const rules = x.route!.limits
  if (rules.length === 0) return null
  const counted: Counted[] = []
  let isWaiting = false
  for (const rule of rules) {
    if (!counts(x, rule)) continue
    const key = keyOf(x, rule.key)
    const spent = x.plane.limiter.spend(rule.limit, key)
    counted.push({ rule, key, spent })
    if (spent instanceof Promise) isWaiting = true
    else if (!spent.isAllowed && rule.error !== null) break
  }
  if (isWaiting) return settle(counted).then(settled => void (x.limited = conclude(x, settled)))
  return conclude(x, counted as Settled[])
}

/** Tells whether a rule counts a request: one whose expression fails counts it, since it can't be told that it need not. */
function counts(x: Exchange, { when }: MeterRule): boolean {
  if (when === null) return true
  const answer = when.evaluate(factsOf(x))
  if (answer === null) x.plane.metrics.expressionFailures.limits.inc()
  return answer !== false
}

async function settle(counted: readonly Counted[]): Promise<readonly Settled[]> {
  return Promise.all(counted.map(async ({ rule, key, spent }) => ({ rule, key, spent: await spent })))
}

function conclude(x: Exchange, counted: readonly Settled[]): Refusal | null {
  const over = counted.find(({ rule, spent }) => !spent.isAllowed && rule.error !== null) ?? null
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
  if (rule.error !== 'rate_limited') return refuse(rule.error!)
  return refuse('rate_limited', { retryAfter: secondsOf(spent.wait) })
}

/** Writes RateLimit for the limit with the least left, and RateLimit-Policy for all that counted the request. */
function fieldsOf(counted: readonly Settled[], over: Settled | null): string {
  let policies = ''
  let binding: Settled | null = null
  for (const one of counted) {
    if (one.rule.name === null) continue
    policies += policies === '' ? one.rule.policy : `, ${one.rule.policy}`
    if (one === over || binding === null || one.spent.remaining < binding.spent.remaining) binding = one
    if (one === over) break
  }
  if (binding === null) return ''
  return limitLines(binding.rule.name!, binding.spent, policies)
}

/** Writes the lines of both fields (draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4). */
export function limitLines(name: string, { remaining, wait }: Spent, policies: string): string {
  return `RateLimit: "${name}";r=${remaining};t=${secondsOf(wait)}\r\nRateLimit-Policy: ${policies}\r\n`
}

/** Gives whole seconds, at least one, as Retry-After has them. */
export function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}
