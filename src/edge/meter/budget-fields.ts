// The response fields about budgets: ours (RFC 9651), and those of draft-ietf-httpapi-ratelimit-headers-10.

import { memoizeEach } from '../../base/memo.ts'
import type { BudgetRefusal } from '../../budgets/charge.ts'
import type { Reservation } from '../../budgets/reservation.ts'
import type { Bucket, BudgetRule } from '../../budgets/rule-buckets.ts'
import type { BudgetUnit } from '../../store/records/budget-rule.ts'
import { secondsOf } from '../snapshot/limit-fields.ts'

/** Returns the lines of an admitted call: the budget with the smallest part left comes first. */
export function budgetLines(
  buckets: readonly Bucket[],
  reservation: Pick<Reservation, 'remaining'>,
  now: number,
): string {
  let tightest = 0
  let minPart = Number.POSITIVE_INFINITY
  for (let i = 0; i < buckets.length; i++) {
    const part = reservation.remaining(i) / buckets[i]!.rule.limit
    if (part < minPart) {
      minPart = part
      tightest = i
    }
  }
  const first = buckets[tightest]!
  const fields = fieldsOf(first.rule)
  const remaining = reservation.remaining(tightest)
  const reset = resetOf(first, now)
  let items = fields.item(remaining, reset)
  for (let i = 0; i < buckets.length; i++) {
    if (i === tightest) continue
    const bucket = buckets[i]!
    items += `, ${fieldsOf(bucket.rule).item(reservation.remaining(i), resetOf(bucket, now))}`
  }
  return `svc-aig-budget: ${items}\r\n${fields.limit(remaining, reset)}${policyLine(buckets, tightest)}`
}

/** Most calls are like the one before. */
let last: { readonly buckets: readonly Bucket[]; readonly tightest: number; readonly line: string } | null =
  null

function policyLine(buckets: readonly Bucket[], tightest: number): string {
  if (last?.buckets === buckets && last.tightest === tightest) return last.line
  const policies = buckets.map(({ rule }) => fieldsOf(rule).policy)
  const [first] = policies.splice(tightest, 1)
  const line = `RateLimit-Policy: ${[first, ...policies].join(', ')}\r\n`
  last = { buckets, tightest, line }
  return line
}

/** Returns the lines of a refused call, about the budget that it does not fit in. */
export function refusedLines(bucket: Bucket, { limit, spent, wait }: BudgetRefusal, now: number): string {
  const fields = fieldsOf(bucket.rule)
  const remaining = limit - spent
  const reset = Number.isFinite(wait) ? secondsOf(wait) : resetOf(bucket, now)
  return `svc-aig-budget: ${fields.item(remaining, reset)}\r\n${fields.limit(remaining, reset)}RateLimit-Policy: ${fields.policy}\r\n`
}

/** Seconds until all of it is free again; null where that is not known without the store. */
function resetOf({ window }: Bucket, now: number): number | null {
  return window.kind === 'fixed' ? secondsOf(window.until - now) : null
}

const fieldsOf = memoizeEach((rule: BudgetRule) => new BudgetFields(rule))

/** What the fields say about one rule; only the amount that is left and the time change. */
class BudgetFields {
  readonly policy: string
  readonly #opening: string
  readonly #limitOpening: string
  readonly #isCost: boolean
  readonly #scale: number

  constructor({ id, owner, unit, limit, period }: BudgetRule) {
    // Of a gateway and its token, two rules may have the same id.
    const name = `"${owner}/${id}"`
    this.#isCost = unit === 'cost'
    this.#scale = this.#isCost ? nanosOfQuota : 1
    const window = period === undefined ? '' : `;w=${secondsOf(period)}`
    this.policy = `${name};q=${this.#quota(limit)};qu="${quotaUnits[unit]}"${window}`
    this.#opening = `"${id}";owner=${owner};unit=${unit};limit=${this.#amount(limit)};remaining=`
    this.#limitOpening = `RateLimit: ${name};r=`
  }

  /** Of `svc-aig-budget`; US dollars, tokens or calls. */
  item(remaining: number, reset: number | null): string {
    const end = reset === null ? '' : `;reset=${reset}`
    return `${this.#opening}${this.#amount(Math.max(0, remaining))}${end}`
  }

  limit(remaining: number, reset: number | null): string {
    const end = reset === null ? '\r\n' : `;t=${reset}\r\n`
    return `${this.#limitOpening}${this.#quota(Math.max(0, remaining))}${end}`
  }

  /** At most 15 digits (RFC 9651 section 3.3.1). */
  #quota(amount: number): number {
    return Math.min(Math.floor(amount / this.#scale), 999_999_999_999_999)
  }

  /** Dollars get three places behind the point, rounded down: there are no more (RFC 9651 section 3.3.2). */
  #amount(amount: number): string {
    if (!this.#isCost) return String(this.#quota(amount))
    const thousandths = Math.floor(amount / 1e6)
    const rest = thousandths % 1000
    const dollars = (thousandths - rest) / 1000
    if (rest === 0) return String(dollars)
    return `${dollars}.${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}`
  }
}

/** A quota is an integer: millionths of a dollar. */
const nanosOfQuota = 1000

/** Only the last one is registered; without a unit, clients would take all for numbers of requests. */
const quotaUnits: Readonly<Record<BudgetUnit, string>> = {
  cost: 'microdollars',
  tokens: 'tokens',
  concurrency: 'concurrent-requests',
}
