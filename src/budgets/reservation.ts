// What is reserved for one call until it is known what it spent.

import type { MaybeAtOnce } from '../store/contract/store.ts'
import type { BudgetRefusal, LimitedBucket } from './charge.ts'
import type { Purse } from './purse.ts'

/** Who reserves more for a call that is under way. */
export interface Lender {
  lend(
    account: string,
    buckets: readonly LimitedBucket[],
    amounts: readonly number[],
    purses: readonly Purse[],
  ): MaybeAtOnce<Decision>
}

/** `admitted`: without the store, as the rules allow. */
export type Decision = BudgetRefusal | 'granted' | 'admitted'

export class Reservation {
  readonly buckets: readonly LimitedBucket[]
  readonly #lender: Lender
  readonly #account: string
  readonly #purses: readonly Purse[]
  #reserved: readonly number[]
  /** Null while all of it is charged if this process dies. */
  #atRisk: number[] | null = null
  #isSettled = false
  #isGranted: boolean

  constructor(
    lender: Lender,
    account: string,
    buckets: readonly LimitedBucket[],
    amounts: readonly number[],
    purses: readonly Purse[],
    isGranted = true,
  ) {
    this.#isGranted = isGranted
    this.#lender = lender
    this.#account = account
    this.buckets = buckets
    this.#purses = purses
    this.#reserved = amounts
    for (let i = 0; i < purses.length; i++) purses[i]!.join()
  }

  /** False if it was admitted without the store. */
  get isGranted(): boolean {
    return this.#isGranted
  }

  get reserved(): readonly number[] {
    return this.#reserved
  }

  /** What is left of the limit of a bucket, beside this reservation. */
  remaining(charge: number): number {
    return this.#purses[charge]?.remaining ?? this.buckets[charge]!.limit
  }

  /**
   * Ends the reservation with what the call spent, by bucket: less than reserved, or more. What is no amount,
   * such as NaN, counts as all that is reserved.
   */
  settle(spent: readonly number[]): void {
    if (this.#isSettled) return
    this.#isSettled = true
    for (let i = 0; i < this.#purses.length; i++) {
      const purse = this.#purses[i]!
      const reserved = this.#reserved[i]!
      const atRisk = (this.#atRisk ?? this.#reserved)[i]!
      const amount = spent[i]
      purse.settle(reserved, atRisk, isAmount(amount) ? amount : reserved, this.#isGranted)
      purse.leave()
    }
  }

  /** Charges the reservation whole: nobody knows what the call spent. */
  settleWhole(): void {
    this.settle(this.#reserved)
  }

  /** Sets what is charged if this process dies, by bucket; at most what is reserved. */
  checkpoint(amounts: readonly number[]): void {
    if (this.#isSettled) return
    const before = this.#atRisk ?? this.#reserved
    const atRisk = amounts.map((amount, i) => {
      const reserved = this.#reserved[i]!
      return isAmount(amount) ? Math.min(amount, reserved) : reserved
    })
    for (const [i, purse] of this.#purses.entries()) purse.risk(atRisk[i]! - before[i]!)
    this.#atRisk = atRisk
  }

  /** Reserves more; null if it fits, and else nothing more is reserved. What is no amount never fits. */
  extend(amounts: readonly number[]): MaybeAtOnce<BudgetRefusal | null> {
    const charge = this.buckets.findIndex((_, i) => !isAmount(amounts[i]))
    if (charge !== -1) return this.#neverFitting(charge)
    const verdict = this.#lender.lend(this.#account, this.buckets, amounts, this.#purses)
    return verdict instanceof Promise
      ? verdict.then(verdict => this.#grow(amounts, verdict))
      : this.#grow(amounts, verdict)
  }

  #neverFitting(charge: number): BudgetRefusal {
    const { limit } = this.buckets[charge]!
    const spent = Math.max(0, limit - this.remaining(charge))
    return { reason: 'never', charge, limit, spent, wait: Number.POSITIVE_INFINITY }
  }

  #grow(amounts: readonly number[], decision: Decision): BudgetRefusal | null {
    if (typeof decision !== 'string') return decision
    const isGranted = decision === 'granted'
    if (!isGranted) this.#isGranted = false
    const reserved = [...this.#reserved]
    for (const [i, amount] of amounts.entries()) {
      // The call has ended meanwhile.
      if (this.#isSettled) this.#purses[i]!.settle(amount, amount, 0, isGranted)
      else {
        reserved[i]! += amount
        if (this.#atRisk !== null) this.#atRisk[i]! += amount
      }
    }
    this.#reserved = reserved
    return null
  }
}

/** What can be counted without an error. */
function isAmount(amount: number | undefined): amount is number {
  return Number.isSafeInteger(amount) && amount! >= 0
}
