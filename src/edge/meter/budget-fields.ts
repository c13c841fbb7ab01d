// The response fields about budgets: ours (RFC 9651), and those of draft-ietf-httpapi-ratelimit-headers-10.

import { memoizeEach, memoizeLast } from '../../base/memo.ts'
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
  const shared = sharedOf(buckets)
  const first = shared.fields[tightest]!
  const remaining = reservation.remaining(tightest)
  const reset = resetOf(buckets[tightest]!, now)
  let lines = first.firstItem(remaining, reset)
  for (let i = 0; i < buckets.length; i++)
    if (i !== tightest)
      lines += shared.fields[i]!.furtherItem(reservation.remaining(i), resetOf(buckets[i]!, now))
  shared.policyLines[tightest] ??= policyLine(buckets, tightest)
  return lines + first.limit(remaining, reset) + shared.policyLines[tightest]
}

/** What calls with the same budgets share. */
interface Shared {
  readonly buckets: readonly Bucket[]
  readonly fields: readonly BudgetFields[]
  /** By which budget comes first. */
  readonly policyLines: (string | undefined)[]
}

/** Most calls are like the one before. */
let latest: Shared | null = null

function sharedOf(buckets: readonly Bucket[]): Shared {
  if (latest?.buckets !== buckets)
    latest = { buckets, fields: buckets.map(({ rule }) => fieldsOf(rule)), policyLines: [] }
  return latest
}

function policyLine(buckets: readonly Bucket[], tightest: number): string {
  const policies = buckets.map(({ rule }) => fieldsOf(rule).policy)
  const [first] = policies.splice(tightest, 1)
  return `RateLimit-Policy: ${[first, ...policies].join(', ')}\r\n`
}

/** Returns the lines of a refused call, about the budget that it does not fit in. */
export function refusedLines(bucket: Bucket, { limit, spent, wait }: BudgetRefusal, now: number): string {
  const fields = fieldsOf(bucket.rule)
  const remaining = limit - spent
  const reset = Number.isFinite(wait) ? secondsOf(wait) : resetOf(bucket, now)
  return `${fields.firstItem(remaining, reset)}${fields.limit(remaining, reset)}RateLimit-Policy: ${fields.policy}\r\n`
}

/** Seconds until all of it is free again; null where that is not known without the store. */
function resetOf({ window }: Bucket, now: number): number | null {
  return window.kind === 'fixed' ? secondsOf(window.until - now) : null
}

const fieldsOf = memoizeEach((rule: BudgetRule) => new BudgetFields(rule))

/** What the fields say about one rule; only the amount that is left and the time change. */
class BudgetFields {
  readonly policy: string
  readonly #firstOpening: string
  readonly #furtherOpening: string
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
    const opening = `"${id}";owner=${owner};unit=${unit};limit=${this.#amount(limit)};remaining=`
    this.#firstOpening = `svc-aig-budget: ${opening}`
    this.#furtherOpening = `, ${opening}`
    this.#limitOpening = `\r\nRateLimit: ${name};r=`
  }

  /** The beginning of `svc-aig-budget`; US dollars, tokens or calls. */
  firstItem(remaining: number, reset: number | null): string {
    return this.#firstOpening + this.#amount(Math.max(0, remaining)) + endOfItem(reset)
  }

  /** A further item of the same line. */
  furtherItem(remaining: number, reset: number | null): string {
    return this.#furtherOpening + this.#amount(Math.max(0, remaining)) + endOfItem(reset)
  }

  /** The end of that line, and the one of `RateLimit`. */
  limit(remaining: number, reset: number | null): string {
    return this.#limitOpening + this.#quota(Math.max(0, remaining)) + endOfLimit(reset)
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

function endOfItem(reset: number | null): string {
  return reset === null ? '' : resetText(reset)
}

function endOfLimit(reset: number | null): string {
  return reset === null ? '\r\n' : limitReset(reset)
}

// Each lasts a second.
const resetText = memoizeLast((reset: number) => `;reset=${reset}`)
const limitReset = memoizeLast((reset: number) => `;t=${reset}\r\n`)

/** A quota is an integer: millionths of a dollar. */
const nanosOfQuota = 1000

/** Only the last one is registered; without a unit, clients would take all for numbers of requests. */
const quotaUnits: Readonly<Record<BudgetUnit, string>> = {
  cost: 'microdollars',
  tokens: 'tokens',
  concurrency: 'concurrent-requests',
}
