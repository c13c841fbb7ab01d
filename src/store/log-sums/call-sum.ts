// Totals of calls. Durations are counted in a histogram, so merged sums still have percentiles.

import type { LogSummary } from '../records/records.ts'

/** Four slots for each doubling of ms up to about half an hour; the last one takes all longer durations. */
const slotsPerDoubling = 4
const slots = 84

/** The stored form of a sum; durations are pairs of slot and count, without empty slots. */
export type CallSumRecord = readonly [
  count: number,
  errors: number,
  tokensIn: number,
  tokensOut: number,
  cost: number,
  withoutCost: number,
  durations: readonly number[],
  /** Only if there is any: versions without it wrote records, too. */
  saved?: readonly [reused: number, tokensIn: number, tokensOut: number, cost: number],
]

const none: number[] = []
/** Scratch space for percentiles. */
const calls = new Uint32Array(slots)

/** The part of a call that is summed. */
export type SummedCall = Pick<
  LogSummary,
  'success' | 'tokensIn' | 'tokensOut' | 'cost' | 'duration' | 'saved'
>

interface Savings {
  /** Calls whose response was that of another one. */
  reused: number
  /** What they would have taken and cost, as far as it is known. */
  tokensIn: number
  tokensOut: number
  cost: number
}

const noSavings: Readonly<Savings> = { reused: 0, tokensIn: 0, tokensOut: 0, cost: 0 }

export class CallSum {
  count = 0
  errors = 0
  tokensIn = 0
  tokensOut = 0
  /** US dollars. */
  cost = 0
  withoutCost = 0
  /**
   * Unordered pairs of slot and count: thousands of sums may be in memory, most with few slots in use, and a
   * full array for each would keep the collector busy.
   */
  #durations: number[] = none
  /** In most sums there are none. */
  #savings: Savings | null = null

  /** Restores a record, and takes over its array of durations. */
  static from(record: CallSumRecord): CallSum {
    const [count, errors, tokensIn, tokensOut, cost, withoutCost, durations, saved] = record
    const sum = Object.assign(new CallSum(), { count, errors, tokensIn, tokensOut, cost, withoutCost })
    if (saved !== undefined) sum.#addSavings(...saved)
    sum.#durations = durations as number[]
    return sum
  }

  get savings(): Readonly<Savings> {
    return this.#savings ?? noSavings
  }

  add(call: SummedCall, hasDuration = true): void {
    const { success, tokensIn, tokensOut, cost, duration, saved } = call
    this.count++
    if (!success) this.errors++
    this.tokensIn += tokensIn ?? 0
    this.tokensOut += tokensOut ?? 0
    if (cost === null) this.withoutCost++
    else this.cost += cost
    if (saved !== undefined) this.#addSavings(1, saved.tokensIn ?? 0, saved.tokensOut ?? 0, saved.cost ?? 0)
    if (hasDuration) this.#addDurations(slotOf(duration), 1)
  }

  merge(other: CallSum): void {
    this.count += other.count
    this.errors += other.errors
    this.tokensIn += other.tokensIn
    this.tokensOut += other.tokensOut
    this.cost += other.cost
    this.withoutCost += other.withoutCost
    if (other.#savings !== null) this.#addSavings(...recordOf(other.#savings))
    const durations = other.#durations
    for (let at = 0; at < durations.length; at += 2) this.#addDurations(durations[at]!, durations[at + 1]!)
  }

  toRecord(): CallSumRecord {
    const { count, errors, tokensIn, tokensOut, cost, withoutCost } = this
    const record = [count, errors, tokensIn, tokensOut, cost, withoutCost, this.#durations] as const
    return this.#savings === null ? record : [...record, recordOf(this.#savings)]
  }

  /** Returns a percentile of the durations in ms, within 10 %; null without calls. */
  percentile(share: number): number | null {
    if (this.count === 0) return null
    calls.fill(0)
    for (let at = 0; at < this.#durations.length; at += 2)
      calls[this.#durations[at]!] = this.#durations[at + 1]!
    let left = Math.ceil(share * this.count)
    let slot = 0
    while ((left -= calls[slot]!) > 0) slot++
    return slot === 0 ? 1 : Math.round(2 ** ((slot - 0.5) / slotsPerDoubling) * 10) / 10
  }

  #addSavings(reused: number, tokensIn: number, tokensOut: number, cost: number): void {
    this.#savings ??= { reused: 0, tokensIn: 0, tokensOut: 0, cost: 0 }
    this.#savings.reused += reused
    this.#savings.tokensIn += tokensIn
    this.#savings.tokensOut += tokensOut
    this.#savings.cost += cost
  }

  #addDurations(slot: number, calls: number): void {
    const durations = this.#durations
    for (let at = 0; at < durations.length; at += 2)
      if (durations[at] === slot) {
        durations[at + 1]! += calls
        return
      }
    // A push would reserve room for 16 more.
    this.#durations = [...durations, slot, calls]
  }
}

function recordOf({ reused, tokensIn, tokensOut, cost }: Savings): NonNullable<CallSumRecord[7]> {
  return [reused, tokensIn, tokensOut, cost]
}

function slotOf(ms: number): number {
  return ms <= 1 ? 0 : Math.min(slots - 1, Math.ceil(Math.log2(ms) * slotsPerDoubling))
}
