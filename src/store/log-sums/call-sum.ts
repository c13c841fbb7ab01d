// What calls add up to. Durations are counted in a histogram, so that sums can be added to each other and still have percentiles.

import type { LogSummary } from '../records/records.ts'

/** Four slots for each doubling of ms, up to half an hour and more. */
const slotsPerDoubling = 4
const slots = 84

/** A sum as data; durations as slot and number, for the slots that have any. */
export type CallSumRecord = readonly [
  count: number,
  errors: number,
  tokensIn: number,
  tokensOut: number,
  cost: number,
  withoutCost: number,
  durations: readonly number[],
]

export class CallSum {
  count = 0
  /** Calls without success. */
  errors = 0
  tokensIn = 0
  tokensOut = 0
  /** US dollars. */
  cost = 0
  /** How many calls have no cost. */
  withoutCost = 0
  /** Made when it is needed: thousands of sums are read, and mostly for their other members. */
  #slots: Uint32Array | null = null
  /** Durations that are not in the slots yet, as in a record. */
  #pairs: readonly number[] = []

  /** Reads what `toRecord` returned. */
  static from([count, errors, tokensIn, tokensOut, cost, withoutCost, durations]: CallSumRecord): CallSum {
    const sum = Object.assign(new CallSum(), { count, errors, tokensIn, tokensOut, cost, withoutCost })
    sum.#pairs = durations
    return sum
  }

  add({
    success,
    tokensIn,
    tokensOut,
    cost,
    duration,
  }: Pick<LogSummary, 'success' | 'tokensIn' | 'tokensOut' | 'cost' | 'duration'>): void {
    this.count++
    if (!success) this.errors++
    this.tokensIn += tokensIn ?? 0
    this.tokensOut += tokensOut ?? 0
    if (cost === null) this.withoutCost++
    else this.cost += cost
    this.#durations[slotOf(duration)]!++
  }

  merge(other: CallSum): void {
    this.count += other.count
    this.errors += other.errors
    this.tokensIn += other.tokensIn
    this.tokensOut += other.tokensOut
    this.cost += other.cost
    this.withoutCost += other.withoutCost
    const durations = this.#durations
    if (other.#slots !== null)
      for (let slot = 0; slot < slots; slot++) durations[slot]! += other.#slots[slot]!
    else addPairs(durations, other.#pairs)
  }

  toRecord(): CallSumRecord {
    const { count, errors, tokensIn, tokensOut, cost, withoutCost } = this
    const durations: number[] = []
    for (const [slot, calls] of this.#durations.entries()) if (calls > 0) durations.push(slot, calls)
    return [count, errors, tokensIn, tokensOut, cost, withoutCost, durations]
  }

  /** Returns the duration in ms that a share of the calls did not exceed, within 10 %; null without calls. */
  percentile(share: number): number | null {
    if (this.count === 0) return null
    let left = Math.ceil(share * this.count)
    let slot = 0
    while ((left -= this.#durations[slot]!) > 0) slot++
    return slot === 0 ? 1 : Math.round(2 ** ((slot - 0.5) / slotsPerDoubling) * 10) / 10
  }

  get #durations(): Uint32Array {
    if (this.#slots === null) {
      this.#slots = new Uint32Array(slots)
      addPairs(this.#slots, this.#pairs)
    }
    return this.#slots
  }
}

function addPairs(durations: Uint32Array, pairs: readonly number[]): void {
  for (let at = 0; at < pairs.length; at += 2) durations[pairs[at]!]! += pairs[at + 1]!
}

function slotOf(ms: number): number {
  return ms <= 1 ? 0 : Math.min(slots - 1, Math.ceil(Math.log2(ms) * slotsPerDoubling))
}
