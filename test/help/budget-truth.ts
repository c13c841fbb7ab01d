// What simulated calls really spent and have reserved, and what must hold between that and what the store says.

import type { BudgetHolder } from '../../src/budgets/budget-holder.ts'
import type { Reservation } from '../../src/budgets/reservation.ts'
import { readAccount } from '../../src/store/budget-ledger/ledger.ts'
import type { BudgetBucket, BudgetStep } from '../../src/store/records/budget.ts'
import type { Message, SimulatedStore } from './simulated-store.ts'

/** A budget of an account. */
export interface Spending extends BudgetBucket {
  readonly account: string
  /** Of account and bucket. */
  readonly key: string
  readonly isOpen: boolean
  limit: number
  /** The highest limit so far. */
  most: number
  /** What calls spent beyond their reservations and checkpoints, or after their leases had ended. */
  beyond: number
  /** The most that the store may still charge for processes that were killed, or had to count after a reset. */
  uncertain: number
  /** Whether something of it was forgotten on purpose. */
  isReset: boolean
}

export interface Program {
  readonly name: string
  readonly holder: BudgetHolder
  isAlive: boolean
  isPaused: boolean
}

export interface Call {
  readonly process: Program
  readonly reservation: Reservation
  readonly of: readonly Spending[]
  /** Whether the store granted it for certain. */
  readonly isBacked: boolean
  readonly used: number[]
  /** The last checkpoint that the store certainly has, and all later ones; null without checkpoints. */
  levels: (readonly number[])[] | null
  /** Budgets of which its lease has ended, with when that was, and what the store charged at least. */
  readonly ended: Map<Spending, { readonly at: number; readonly charged: number }>
  /** Budgets whose reset forgot what its lease was charged. */
  readonly forgiven: Set<Spending>
}

interface Booking {
  readonly of: Spending
  /** The process that has it to say. */
  readonly by: string
  readonly amount: number
  readonly at: number
  /** What of it is counted from when, even if the process was killed right after. */
  readonly certain: number
  readonly certainAt: number
  readonly isBacked: boolean
}

interface TruthOptions {
  readonly began: number
  /** Whether processes stop for long, or do not reach the store. */
  readonly mayLose: boolean
  readonly fault: (text: string) => void
}

export class Truth {
  readonly calls = new Set<Call>()
  readonly #store: SimulatedStore
  readonly #spendings: readonly Spending[]
  readonly #fault: (text: string) => void
  /** Whether a process that runs may lose its leases. */
  readonly #mayLose: boolean
  readonly #began: number
  #bookings: Booking[] = []
  #hasCrashed = false

  constructor(
    store: SimulatedStore,
    spendings: readonly Spending[],
    { began, mayLose, fault }: TruthOptions,
  ) {
    this.#mayLose = mayLose
    this.#store = store
    this.#spendings = spendings
    this.#began = began
    this.#fault = fault
  }

  /** Ends a call with what it spent, by charge. */
  settle(call: Call, spent: readonly number[], now: number): void {
    this.calls.delete(call)
    this.#noteEnded(call, now)
    for (const [i, of] of call.of.entries()) {
      of.beyond += Math.max(0, spent[i]! - this.coverOf(call, i))
      this.#book(call, i, spent[i]!, now)
    }
  }

  /** What the calls of a process had used when it was killed is spent; the store may charge all it had leased. */
  crash(program: Program, now: number): void {
    this.#hasCrashed = true
    for (const call of this.calls) {
      if (call.process !== program) continue
      this.calls.delete(call)
      this.#noteEnded(call, now)
      for (const i of call.of.keys()) this.#book(call, i, call.used[i]!, now)
    }
  }

  /** Forgets what was spent of a budget. */
  reset(of: Spending, now: number): void {
    for (const call of this.calls) {
      this.#noteEnded(call, now)
      if (call.of.includes(of) && this.#hasEnded(call, of, now)) call.forgiven.add(of)
    }
    of.isReset = true
    of.uncertain += this.#store.leasedOf(of, () => true)
    const gone = this.#bookings.filter(booking => booking.of === of && booking.isBacked)
    of.uncertain += sumOf(
      gone.filter(({ by, at }) => this.#isUnheard(of, by, at, now)).map(({ amount }) => amount),
    )
    this.#bookings = this.#bookings.filter(booking => !gone.includes(booking))
  }

  /** What of a charge the store counts at least if the process is killed now. */
  coverOf(call: Call, i: number): number {
    const reserved = call.reservation.reserved[i]!
    return call.levels === null ? reserved : Math.min(reserved, ...call.levels.map(level => level[i]!))
  }

  /** A process draws at once from leases that have not ended. */
  checkDraw({ name }: Program, from: readonly Spending[], now: number): void {
    for (const of of from)
      if (this.#store.heardAt(of, name) + this.#store.lease <= now)
        this.#fault(`${name} draws from a lease of ${of.key} that has ended`)
  }

  /** A step says that what the calls of its process have reserved is kept, and what of it is charged at least. */
  checkStep(from: Program, { account, lines }: BudgetStep): void {
    for (const { bucket, keep, ifLost } of lines) {
      let [reserved, level] = [0, 0]
      for (const call of this.calls) {
        const i = call.of.findIndex(of => of.account === account && of.bucket === bucket)
        if (call.process !== from || i === -1) continue
        reserved += call.reservation.reserved[i]!
        level += (call.levels?.at(-1) ?? call.reservation.reserved)[i]!
      }
      if (keep !== reserved || ifLost !== level)
        this.#fault(
          `${from.name} keeps ${keep} of ${account}/${bucket} and may have spent ${ifLost}, not ${reserved} and ${level}`,
        )
    }
  }

  /** More than what a process keeps is granted only within the limit. */
  checkReply({ step, reply }: Pick<Message, 'step' | 'reply'>): void {
    for (const [i, { amount, spent, leased }] of reply!.states.entries()) {
      const { bucket, keep, limit } = step.lines[i]!
      if (reply!.isGranted && amount > keep && spent + leased > limit)
        this.#fault(`${spent} are spent and ${leased} leased of ${limit} in ${step.account}/${bucket}`)
    }
  }

  /** What must hold at any time. */
  check(now: number): void {
    for (const call of this.calls) this.#noteEnded(call, now)
    this.#checkShares()
    for (const of of this.#spendings) {
      this.#checkLeases(of, now)
      this.#checkLimit(of, now)
    }
  }

  /** What must hold once nothing is under way and every lease has ended. */
  checkEnd(now: number): void {
    for (const of of this.#spendings) {
      const { spent, leased } = readAccount(this.#store.accountOf(of), of.window, now)
      const name = of.key
      if (leased !== 0) this.#fault(`${leased} of ${name} are withheld although nothing is under way`)
      if (of.window.kind === 'none') continue
      const period = of.window.kind === 'sliding' ? of.window.period : Number.POSITIVE_INFINITY
      const own = this.#bookings.filter(booking => booking.of === of)
      const least = own.map(({ isBacked, amount, at, certain, certainAt }) => {
        if (!isBacked || (this.#hasCrashed ? certainAt : at) <= now - period) return 0
        return this.#hasCrashed ? certain : amount
      })
      const atLeast = sumOf(least)
      if (spent < atLeast) this.#fault(`${name} has ${spent} spent, but calls spent at least ${atLeast}`)
      // What is reported late stays in a window longer.
      if (now - this.#began >= period) continue
      const all = sumOf(own.map(({ amount }) => amount))
      const atMost = all + of.uncertain + (of.isReset ? of.beyond : 0) + this.#withheldOf(of)
      if (spent > atMost) this.#fault(`${name} has ${spent} spent, but calls spent at most ${atMost}`)
      if (!this.#hasCrashed && !of.isReset && spent !== all)
        this.#fault(`${name} has ${spent} spent, but calls spent ${all}`)
    }
  }

  /** What the store charged at most for processes that were killed. */
  #withheldOf(of: Spending): number {
    return this.#store.chargedOf(of, name => !this.#store.isAlive(name))
  }

  #checkShares(): void {
    for (const of of this.#spendings) {
      const { slots, shares } = this.#store.accountOf(of)
      const name = of.key
      if (slots.some(([, spent]) => !(spent >= 0)))
        this.#fault(`${name} has a negative balance: ${JSON.stringify(slots)}`)
      for (const [share, { amount, ifLost, expiresAt }] of Object.entries(shares)) {
        if (!(amount >= 0 && ifLost >= 0 && ifLost <= amount))
          this.#fault(`${name} lends ${amount} to ${share} and would charge ${ifLost}`)
        if (amount > 0 && expiresAt > this.#store.heardAt(of, programOf(share)) + this.#store.lease)
          this.#fault(`${name} lends ${amount} to ${share} for longer than a lease`)
      }
    }
    for (const call of this.calls)
      for (const i of call.of.keys())
        if (!(call.reservation.remaining(i) >= 0)) this.#fault('less than nothing of a limit remains')
  }

  /** As long as a process is heard of, what its calls have reserved is leased to it. */
  #checkLeases(of: Spending, now: number): void {
    const needs = new Map<Program, number>()
    for (const call of this.calls) {
      const i = call.of.indexOf(of)
      if (i === -1 || !call.isBacked || this.#hasEnded(call, of, now)) continue
      needs.set(call.process, (needs.get(call.process) ?? 0) + call.reservation.reserved[i]!)
    }
    for (const [{ name }, need] of needs) {
      const leased = this.#store.leasedOf(of, program => program === name)
      if (leased < need)
        this.#fault(`a lost lease: ${name} has ${leased} of ${of.key}, but reserved ${need} for calls`)
    }
  }

  /** What is spent and reserved never exceeds the limit. */
  #checkLimit(of: Spending, now: number): void {
    const isHeld = of.window.kind === 'none'
    const since = of.window.kind === 'sliding' ? now - of.window.period : Number.NEGATIVE_INFINITY
    let [sum, beyond] = [0, of.beyond]
    for (const booking of this.#bookings)
      if (booking.of === of && booking.isBacked && booking.at > since) sum += booking.amount
    for (const call of this.calls) {
      const i = call.of.indexOf(of)
      if (i === -1 || !call.isBacked || call.forgiven.has(of)) continue
      const end = call.ended.get(of)
      if (isHeld && end !== undefined) continue
      const reserved = call.reservation.reserved[i]!
      sum += reserved
      if (end !== undefined) beyond += reserved - (end.at > since ? Math.min(reserved, end.charged) : 0)
    }
    if (sum > of.most + beyond)
      this.#fault(
        `over-spent: ${sum} of ${of.most} are spent or reserved in ${of.key}, and ${beyond} are excused`,
      )
  }

  #book(call: Call, i: number, spent: number, at: number): void {
    const of = call.of[i]!
    const { isBacked } = call
    if (of.window.kind === 'none' || (isBacked && call.forgiven.has(of))) {
      of.uncertain += of.window.kind === 'none' ? 0 : spent
      return
    }
    const end = call.ended.get(of) ?? { at, charged: Number.POSITIVE_INFINITY }
    const certain = Math.min(spent, this.coverOf(call, i), end.charged)
    this.#bookings.push({
      of,
      by: call.process.name,
      amount: spent,
      at,
      certain,
      certainAt: end.at,
      isBacked,
    })
    if (!isBacked || !call.ended.has(of)) return
    // What it was charged may have left the window before.
    const charged = of.window.kind === 'sliding' ? 0 : end.charged
    of.beyond += Math.max(0, Math.min(spent, call.reservation.reserved[i]!) - charged)
  }

  /** Whether the store may hear only now of what was spent then: it has no lease that stands for it. */
  #isUnheard(of: Spending, by: string, at: number, now: number): boolean {
    const heardAt = this.#store.heardAt(of, by)
    return at > heardAt || heardAt + this.#store.lease <= now
  }

  #noteEnded(call: Call, now: number): void {
    if (!call.isBacked) return
    for (const [i, of] of call.of.entries()) {
      if (!this.#hasEnded(call, of, now)) continue
      if (!this.#mayLose) this.#fault(`a lost lease: ${call.process.name} did not renew that of ${of.key}`)
      const at = this.#store.heardAt(of, call.process.name) + this.#store.lease
      const charged = this.coverOf(call, i)
      const before = call.ended.get(of)
      call.ended.set(of, before === undefined ? { at, charged } : earlier(before, { at, charged }))
    }
  }

  #hasEnded(call: Call, of: Spending, now: number): boolean {
    return this.#store.heardAt(of, call.process.name) + this.#store.lease <= now
  }
}

type End = { readonly at: number; readonly charged: number }

function earlier(one: End, other: End): End {
  return { at: Math.min(one.at, other.at), charged: Math.min(one.charged, other.charged) }
}

export function programOf(share: string): string {
  return share.slice(0, share.indexOf('.'))
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0)
}
