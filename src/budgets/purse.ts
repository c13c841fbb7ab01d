// What one process may spend from one bucket, and what it has spent.

import type { BudgetBucket, BudgetLine, BudgetState } from '../store/records/budget.ts'
import { waitUntilLeft } from '../store/budget-ledger/ledger.ts'
import type { BudgetRefusal } from './charge.ts'

/** Ms for which a refusal is repeated without a step: a raise counts within a second. */
const refusalPeriod = 500
/** Ms after the last confirmed step in which a share may still be drawn from; less than a lease. */
const drawingPeriod = 10_000
/** Ms without a draw after which a share is returned. */
const idlePeriod = 2_000
/** Ms for which a purse is kept unused: another one has another share, and stores remember each. */
const keptPeriod = 30_000
/** Ms after which a lease is renewed. */
const renewalPeriod = 4_000
/** Calls like the present one for which a share is asked. */
const usualShare = 8
/** Ms after which what was given back counts half as much, of how long reservations last. */
const halfLife = 30_000
/** Ms in which other processes return what they do not use. */
const returnPeriod = 3_000
/** Ms, of a wait that depends on when calls under way end. */
const minEstimate = 1_000
const maxEstimate = 60_000

export class Purse {
  readonly bucket: BudgetBucket['bucket']
  readonly window: BudgetBucket['window']
  /** As of the latest call. */
  #limit = 0
  readonly #share: string
  /** Spent, and of that confirmed by the store. */
  #total = 0
  #reported = 0
  /** Calls under way, some of which may have reserved nothing of it. */
  #calls = 0
  /** Reserved for calls, and what of that is charged if this process dies. */
  #held = 0
  #atRisk = 0
  /** Leased, and not reserved. */
  #free = 0
  /** What the store had leased after the last confirmed step. */
  #leased = 0
  /** What the store charges if this process dies: nothing beyond it may be at risk. */
  #cover = 0
  /** Drawn since the last step; and in the time before that. */
  #recent = 0
  #rate = 0
  #drawnAt: number
  /** What reservations had that was not spent, and for how long it was held: the product, in ms. */
  #givenBack = 0
  #heldTime = 0
  #heldSince: number
  #halvedAt: number
  /** When the last confirmed step was sent; negative infinity before. */
  #confirmedAt = Number.NEGATIVE_INFINITY
  #isStale = false
  /** Whether the store may forget the share, once nothing of it is leased. */
  #isKnown = true
  #refusal: { readonly need: number; readonly until: number; readonly state: BudgetState } | null = null
  /** What all processes have spent or leased, as last heard. */
  #used = 0
  /** The line under way. */
  #sent: BudgetLine | null = null

  /** The name of a share is never used twice. */
  constructor({ bucket, window }: BudgetBucket, share: string, now: number) {
    this.bucket = bucket
    this.window = window
    this.#share = share
    this.#drawnAt = this.#heldSince = this.#halvedAt = now
  }

  /** What is left of the limit, as far as this process knows. */
  get remaining(): number {
    return Math.max(0, this.#limit - this.#used + this.#free)
  }

  /** Leased, and not reserved: the next step gives it back. */
  get free(): number {
    return this.#free
  }

  /** What all processes have spent or leased, as last heard. */
  get used(): number {
    return this.#used
  }

  /** Its share of the limit; 1 for all of it. */
  get usedShare(): number {
    return this.#limit > 0 ? this.#used / this.#limit : 1
  }

  /** What was refused under another limit may fit. */
  limitTo(limit: number): void {
    if (limit === this.#limit) return
    this.#limit = limit
    this.#refusal = null
  }

  /** Whether the store knows everything of it, and nothing is leased. */
  get isEmpty(): boolean {
    const holds = this.#held + this.#free + this.#leased > 0
    return !holds && this.#total === this.#reported && this.#sent === null && !this.#isStale
  }

  /** Whether something was spent that the store has not confirmed. */
  get isUncounted(): boolean {
    return this.#total !== this.#reported
  }

  /** Whether nothing of it is of use any more. */
  isIdle(now: number): boolean {
    const usedAt = Math.max(this.#drawnAt, this.#refusal?.until ?? Number.NEGATIVE_INFINITY)
    return this.#calls === 0 && this.isEmpty && this.#isKnown && now - usedAt > keptPeriod
  }

  /** Whether the store confirmed nothing of it, and no call needs it. */
  get isUnheardOf(): boolean {
    const isEmpty = this.#calls === 0 && this.#held === 0 && this.#total === 0
    return isEmpty && this.#sent === null && this.#confirmedAt === Number.NEGATIVE_INFINITY
  }

  /** Keeps it while a call is under way. */
  join(): void {
    this.#calls++
  }

  leave(): void {
    this.#calls--
  }

  /** While a step is under way, it is not known what the store would charge. */
  canDraw(amount: number, now: number): boolean {
    // Of what is beyond the limit, as another process had it meanwhile, nothing is given to another call.
    if (this.#used > this.#limit) return false
    if (amount > this.#free || this.#sent !== null || now - this.#confirmedAt > drawingPeriod) return false
    return this.#atRisk + this.#total - this.#reported + amount <= this.#cover
  }

  draw(amount: number, now: number): void {
    this.#free -= amount
    this.hold(amount, now)
  }

  /** Reserves what was granted, or what is admitted without the store. */
  hold(amount: number, now: number): void {
    this.#held += amount
    this.#atRisk += amount
    this.#recent += amount
    this.#drawnAt = now
  }

  /** Turns a reservation into what was spent; what the store did not grant cannot be drawn again. */
  settle(reserved: number, atRisk: number, spent: number, isGranted: boolean): void {
    this.#held -= reserved
    this.#atRisk -= atRisk
    this.#total += spent
    if (reserved > spent) this.#givenBack += reserved - spent
    this.#free = Math.max(0, this.#free + (isGranted ? reserved : 0) - spent)
  }

  /** Changes by how much a reservation is charged if this process dies. */
  risk(change: number): void {
    this.#atRisk += change
    this.#isStale = true
  }

  /** Repeats a refusal that is fresh, with the wait of this call, which may take more. */
  refusalOf(amount: number, charge: number, now: number): BudgetRefusal | null {
    const refusal = this.#refusal
    if (refusal === null || now >= refusal.until || amount < refusal.need) return null
    return this.#refuse(amount, charge, refusal.state, now)
  }

  /** Refuses a call by what the store says of one of its buckets. */
  refuse(need: number, charge: number, state: BudgetState, now: number): BudgetRefusal {
    // Otherwise the limit was raised while the step was under way.
    const isOver = state.spent + state.leased + need > this.#limit
    this.#refusal = isOver ? { need, until: now + refusalPeriod, state } : null
    return this.#refuse(need, charge, state, now)
  }

  #refuse(need: number, charge: number, state: BudgetState, now: number): BudgetRefusal {
    const { spent, leased, wait, leaving } = state
    const limit = this.#limit
    const refusal = { charge, limit, spent: spent + leased }
    if (wait === null) return { ...refusal, reason: 'never', wait: Number.POSITIVE_INFINITY }
    const excess = spent + need - limit
    if (this.window.kind !== 'none' && excess > 0)
      return {
        ...refusal,
        reason: 'over',
        wait: leaving === undefined ? wait : waitUntilLeft(leaving, excess),
      }
    const estimate = this.#estimate(spent + leased + need - limit, leased, now)
    const isSooner = this.window.kind === 'fixed' && wait < estimate
    return { ...refusal, reason: 'over', wait: isSooner ? wait : estimate, isEstimate: !isSooner }
  }

  /** Ms until so much of what is leased is given back, by how long reservations of this process last. */
  #estimate(excess: number, leased: number, now: number): number {
    if (excess <= 0) return minEstimate
    this.#noteHeld(now)
    const usual = (this.#heldTime / this.#givenBack) * (excess / leased)
    // Of those that have not ended, as much is to be expected as has passed.
    const passed = this.#held > 0 ? this.#heldTime / this.#held : returnPeriod
    const estimate = this.#givenBack >= excess ? usual : passed
    return Math.min(Math.max(minEstimate, Math.ceil(estimate)), maxEstimate)
  }

  #noteHeld(now: number): void {
    this.#heldTime += this.#held * (now - this.#heldSince)
    this.#heldSince = now
    if (now - this.#halvedAt < halfLife) return
    this.#halvedAt = now
    this.#heldTime /= 2
    this.#givenBack /= 2
  }

  /** Whether the store has to hear of it although no call needs more. */
  needsStep(now: number): boolean {
    if (this.#total !== this.#reported || this.#isStale) return true
    if (this.#free > 0 && now - this.#drawnAt > idlePeriod) return true
    if (this.#held + this.#free === 0)
      return this.#leased > 0 || (!this.#isKnown && now - this.#drawnAt > idlePeriod)
    return now - this.#confirmedAt > renewalPeriod
  }

  /** Returns what the store has to know, and gives up the free part, which may be granted anew. */
  line(need: number, now: number, isLast = false): BudgetLine {
    this.#noteHeld(now)
    const isIdle = isLast || now - this.#drawnAt > idlePeriod
    this.#rate = Math.max(this.#recent, Math.floor(this.#rate / 2))
    this.#recent = 0
    this.#free = 0
    this.#isStale = false
    const { bucket, window } = this
    this.#sent = {
      bucket,
      window,
      limit: this.#limit,
      share: this.#share,
      total: this.#total,
      confirmed: this.#reported,
      keep: this.#held,
      ifLost: Math.min(this.#atRisk, this.#held),
      need,
      want: isIdle && need === 0 ? 0 : Math.max(need * usualShare, 2 * this.#rate),
    }
    return this.#sent
  }

  /** Takes what the store granted beyond needs. */
  confirm(state: BudgetState, isGranted: boolean, sentAt: number): void {
    const { total, confirmed, keep, need, ifLost } = this.#sent!
    this.#sent = null
    this.#leased = state.amount
    this.#isKnown = total === confirmed
    this.#cover = ifLost + state.amount - keep
    this.#reported = Math.max(this.#reported, total)
    this.#confirmedAt = sentAt
    this.#free += Math.max(0, state.amount - keep - (isGranted ? need : 0))
    this.#used = state.spent + state.leased
    if (isGranted) this.#refusal = null
  }

  /** The outcome of a step is unknown: the next one says everything again. */
  lose(): void {
    this.#cover = Math.min(this.#cover, this.#sent!.ifLost)
    this.#sent = null
    this.#isStale = true
  }
}
