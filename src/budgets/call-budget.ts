// What one AI call has reserved in all its budgets, by the units of their rules, until its use is known.

import { nanodollarsOf } from '../base/units.ts'
import type { MaybeAtOnce } from '../store/contract/store.ts'
import type { BudgetRefusal } from './charge.ts'
import type { Reservation } from './reservation.ts'
import type { Bucket } from './rule-buckets.ts'

/** What a call used; null where that is unknown. */
interface CallUse {
  /** Whether the provider may have worked for it. */
  readonly isBillable: boolean
  /** US dollars. */
  readonly cost: number | null
  readonly tokens: number | null
  /** About how many tokens came, if the response broke off or its input is unknown; null for any other. */
  readonly tokensOut: number | null
}

/** Of what is reserved for a call. */
export interface Parts {
  /** Tokens that the call may produce. */
  readonly tokensOut: number
  /** What the input takes, in the unit of the charge. */
  readonly input: number
}

/** What a call asked of its budgets. */
interface Demand {
  /** Null if it is unknown. */
  readonly model: string | null
  readonly buckets: readonly Bucket[]
  /** Nanodollars of a call whose model has no price; null if it has one. */
  readonly flatCost: number | null
  partsOf(charge: number): Parts
}

/** What a session may take of its budgets: nanodollars, and tokens. */
export interface SessionSpending {
  readonly cost: number
  readonly tokens: number
}

export class CallBudget {
  /** Called once it is settled. */
  onEnd: (() => void) | null = null
  readonly #reservation: Reservation
  readonly #demand: Demand
  /** Tokens of the last checkpoint; infinity once that has all. */
  #checkpoint = 0
  /** What a session has spent so far; null for any other call. */
  #sessionSpent: SessionSpending | null = null

  constructor(reservation: Reservation, demand: Demand) {
    this.#reservation = reservation
    this.#demand = demand
  }

  /** The model for which it was reserved; null if it is unknown. */
  get model(): string | null {
    return this.#demand.model
  }

  /** Charges what was used; where that is unknown, all that was reserved. */
  settle(use: CallUse): void {
    if (this.#sessionSpent !== null) return this.#end(this.#amountsOf(this.#sessionSpent))
    const spent: number[] = []
    for (let i = 0; i < this.#demand.buckets.length; i++) spent.push(this.#spentOf(i, use))
    this.#end(spent)
  }

  /** Charges nothing: no provider was asked. */
  release(): void {
    this.#end(this.#demand.buckets.map(() => 0))
  }

  /** Charges all that was reserved: nobody knows what the call used. */
  settleWhole(): void {
    const { reserved } = this.#reservation
    this.#end(
      this.#demand.buckets.map(({ rule: { unit } }, i) => (unit === 'concurrency' ? 0 : reserved[i]!)),
    )
  }

  /** Notes the tokens that may have come: if this process dies, the call is charged its input and these. */
  checkpoint(tokens: number): void {
    if (tokens <= this.#checkpoint) return
    const { buckets } = this.#demand
    const counted = buckets.findIndex(({ rule }) => rule.unit !== 'concurrency')
    const isWhole = counted === -1 || tokens >= this.#demand.partsOf(counted).tokensOut
    this.#checkpoint = isWhole ? Number.POSITIVE_INFINITY : tokens
    if (counted !== -1) this.#reservation.checkpoint(buckets.map((_, i) => this.#upTo(i, tokens)))
  }

  /** Notes what a session has spent so far: what it is charged if it ends now. */
  noteSession(spent: SessionSpending): void {
    this.#sessionSpent = spent
  }

  /** Reserves what a session may spend from its beginning; null if that fits, and else nothing more is. */
  extend(maxSpending: SessionSpending): MaybeAtOnce<BudgetRefusal | null> {
    const { reserved } = this.#reservation
    const further = this.#amountsOf(maxSpending).map((amount, i) => Math.max(0, amount - reserved[i]!))
    return further.every(amount => amount === 0) ? null : this.#reservation.extend(further)
  }

  /** Whether tokens of output are reserved. */
  get mayWrite(): boolean {
    const { buckets } = this.#demand
    return buckets.some(({ rule }, i) => rule.unit !== 'concurrency' && this.#demand.partsOf(i).tokensOut > 0)
  }

  /** Whether anything but calls at a time is counted. */
  get isCounted(): boolean {
    return this.#demand.buckets.some(({ rule }) => rule.unit !== 'concurrency')
  }

  #spentOf(charge: number, { isBillable, cost, tokens, tokensOut }: CallUse): number {
    const { buckets, flatCost } = this.#demand
    const { unit } = buckets[charge]!.rule
    if (unit === 'concurrency') return 0
    if (unit === 'tokens') return tokens ?? (isBillable ? this.#upTo(charge, tokensOut) : 0)
    if (cost !== null) return nanodollarsOf(cost)
    return isBillable ? (flatCost ?? this.#upTo(charge, tokensOut)) : 0
  }

  #amountsOf({ cost, tokens }: SessionSpending): readonly number[] {
    const { buckets, flatCost } = this.#demand
    const amounts = { cost: flatCost ?? cost, tokens, concurrency: 0 }
    return buckets.map(({ rule }) => amounts[rule.unit])
  }

  #end(spent: readonly number[]): void {
    this.#reservation.settle(spent)
    this.onEnd?.()
  }

  /** Returns what is reserved for the input and so many tokens of output, or for all if that is null. */
  #upTo(charge: number, tokens: number | null): number {
    const reserved = this.#reservation.reserved[charge]!
    if (tokens === null) return reserved
    const { tokensOut, input } = this.#demand.partsOf(charge)
    return tokens < tokensOut ? Math.ceil(input + ((reserved - input) * tokens) / tokensOut) : reserved
  }
}
