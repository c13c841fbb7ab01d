// One schedule of processes that spend budgets together, on clocks, a store and a network that do what the seed says.

import { setImmediate as turn } from 'node:timers/promises'
import { BudgetHolder } from '../../src/budgets/budget-holder.ts'
import type { BudgetRefusal, Charge } from '../../src/budgets/charge.ts'
import type { Reservation } from '../../src/budgets/reservation.ts'
import {
  type BucketAccount,
  emptyAccount,
  readAccount,
  resetAccount,
  takeStep,
} from '../../src/store/budget-ledger/ledger.ts'
import type { BudgetReply, BudgetStep, BudgetWindow } from '../../src/store/records/budget.ts'

interface Outcome {
  readonly faults: readonly string[]
  readonly trace: readonly string[]
  readonly events: number
}

/** What may happen in a schedule, beside calls. */
interface Troubles {
  readonly crashes: boolean
  readonly pauses: boolean
  readonly network: boolean
  readonly outages: boolean
  readonly checkpoints: boolean
  readonly changes: boolean
}

interface Spending {
  readonly window: BudgetWindow
  limit: number
  /** The highest limit so far. */
  most: number
  readonly isOpen: boolean
}

interface CallUnderWay {
  readonly process: Program
  readonly reservation: Reservation
  /** The numbers of its buckets. */
  readonly of: readonly number[]
  /** Whether no store granted it. */
  readonly isUnbacked: boolean
  least: number[]
}

interface Spent {
  readonly bucket: number
  readonly amount: number
  readonly at: number
}

interface Program {
  readonly name: string
  readonly holder: BudgetHolder
  isAlive: boolean
  isPaused: boolean
  /** Steps that the process waits for. */
  readonly sent: Message[]
}

interface Message {
  readonly from: Program
  readonly step: BudgetStep
  reply: BudgetReply | null
  isDelivered: boolean
  readonly sentAt: number
  resolve: ((reply: BudgetReply) => void) | null
  reject: ((error: Error) => void) | null
}

const commandTimeout = 1000
/** What else holders do by timers, the schedule does. */
const alone = { lookPeriod: null, patience: null }

export async function simulate(seed: number, { traces = false } = {}): Promise<Outcome> {
  const schedule = new Schedule(seed, traces)
  await schedule.run()
  return schedule
}

class Schedule implements Outcome {
  readonly faults: string[] = []
  readonly trace: string[] = []
  events = 0
  readonly #traces: boolean
  readonly #random: () => number
  readonly #troubles: Troubles
  readonly #buckets: Spending[] = []
  readonly #accounts = new Map<string, BucketAccount>()
  readonly #programs: Program[] = []
  readonly #mail: Message[] = []
  #calls: CallUnderWay[] = []
  /** What is spent for certain, by calls that the store granted; and the rest. */
  #spent: Spent[] = []
  #spentInAll: number[] = []
  #grantedInAll: number[] = []
  #isDown = false
  #hasCrashed = false
  #isReset = false
  #time = 1_700_000_000_000
  #lookedAt = this.#time

  constructor(seed: number, traces: boolean) {
    this.#traces = traces
    this.#random = randomOf(seed)
    const maybe = (part = 0.5) => this.#random() < part
    const checkpoints = maybe(0.3)
    this.#troubles = {
      crashes: maybe(),
      pauses: !checkpoints && maybe(),
      network: maybe(),
      outages: !checkpoints && maybe(0.4),
      checkpoints,
      changes: maybe(0.3),
    }
    const count = 1 + this.#below(3)
    for (let i = 0; i < count; i++) this.#buckets.push(this.#bucket())
    this.#spentInAll = this.#buckets.map(() => 0)
    this.#grantedInAll = this.#buckets.map(() => 0)
    const programs = 1 + this.#below(4)
    for (let i = 0; i < programs; i++) this.#start()
  }

  async run(): Promise<void> {
    const length = 30 + this.#below(90)
    for (let i = 0; i < length && this.faults.length === 0; i++) await this.#next()
    if (this.faults.length === 0) await this.#settleAll()
  }

  #bucket(): Spending {
    const limit = 10 ** (1 + this.#below(4)) * (1 + this.#below(9))
    const kind = this.#below(3)
    const window: BudgetWindow =
      kind === 0
        ? { kind: 'fixed', until: this.#time + 1000 * 10 ** (1 + this.#below(4)) }
        : kind === 1
          ? { kind: 'sliding', period: 60_000 * 10 ** this.#below(3) }
          : { kind: 'none' }
    return { window, limit, most: limit, isOpen: this.#random() < 0.2 }
  }

  #start(): void {
    const program = {
      name: `p${this.#programs.length}`,
      isAlive: true,
      isPaused: false,
      sent: [] as Message[],
    }
    const budgets = { step: (step: BudgetStep) => this.#send(program as never, step) }
    const clock = { now: () => this.#time, monotonic: () => this.#time }
    const log = { warn: () => {}, info: () => {} }
    const holder = new BudgetHolder({ budgets, clock, log, id: program.name, ...alone })
    this.#programs.push(Object.assign(program, { holder }))
  }

  #send(from: Program, step: BudgetStep): Promise<BudgetReply> {
    return new Promise((resolve, reject) => {
      const message = { from, step, reply: null, isDelivered: false, sentAt: this.#time, resolve, reject }
      this.#mail.push(message)
      if (!this.#troubles.network && !this.#isDown) {
        this.#deliver(message)
        this.#answer(message)
      }
    })
  }

  /** The store takes a step. */
  #deliver(message: Message): void {
    const { step } = message
    this.#note(`store takes ${message.from.name} #${step.sequence}`)
    const accounts = step.lines.map(({ bucket }) => this.#accountOf(bucket))
    // As JSON, which is all that a store has.
    const copies = accounts.map(account => structuredCloneOf(account))
    message.reply = takeStep(copies, structuredCloneOf(step), this.#time)
    for (const [i, { bucket }] of step.lines.entries()) this.#accounts.set(bucket, copies[i]!)
    message.isDelivered = true
    this.#checkAccounts()
  }

  #accountOf(bucket: string): BucketAccount {
    return this.#accounts.get(bucket) ?? emptyAccount()
  }

  #answer(message: Message): void {
    if (message.from.isAlive && message.reply !== null) message.resolve?.(message.reply)
    message.resolve = message.reject = null
  }

  #fail(message: Message): void {
    message.reject?.(new Error('store unreachable'))
    message.resolve = message.reject = null
  }

  async #next(): Promise<void> {
    this.events++
    const { crashes, pauses, network, outages, checkpoints, changes } = this.#troubles
    const dice = this.#random() * 100
    if (dice < 40) this.#call()
    else if (dice < 60) this.#settle()
    else if (dice < 70) this.#pass(this.#below(3000))
    else if (dice < 72) await this.#passLong(this.#below(20))
    else if (dice < 80) this.#look()
    else if (dice < 82) this.#extend()
    else if (dice < 84 && checkpoints) this.#checkpoint()
    else if (dice < 85 && crashes) this.#crash()
    else if (dice < 88 && pauses) this.#pause()
    else if (dice < 90 && outages) this.#turnStore()
    else if (dice < 92 && changes) this.#change()
    // Only a process that is stopped misses its looks for long.
    if (!pauses && this.#time - this.#lookedAt > 5000) this.#look()
    if (network || this.#isDown) this.#carry()
    await turn()
    this.#checkSpent()
  }

  #call(): void {
    const program = this.#pick(this.#programs.filter(({ isAlive, isPaused }) => isAlive && !isPaused))
    if (program === null) return
    const of = this.#buckets.map((_, i) => i).filter(() => this.#random() < 0.7)
    if (of.length === 0) return
    const charges = of.map((i): Charge => {
      const { window, limit, isOpen } = this.#buckets[i]!
      const amount = 1 + this.#below(Math.max(1, Math.ceil(limit / 10 ** this.#below(4))))
      return { bucket: `b${i}`, window, limit, amount, whenUnreachable: isOpen ? 'open' : 'closed' }
    })
    if (charges.some(({ window }) => window.kind === 'fixed' && window.until <= this.#time)) return
    const isOpen = charges.every(({ whenUnreachable }) => whenUnreachable === 'open')
    const take = (verdict: Reservation | BudgetRefusal) => {
      if (!('charges' in verdict)) return this.#note(`${program.name} is refused: ${verdict.reason}`)
      const amounts = verdict.charges.map(({ amount }) => amount)
      this.#note(`${program.name} admits ${charges.map(({ bucket }, i) => `${bucket}=${amounts[i]}`)}`)
      // Who admits without the store may exceed the limit.
      const isUnbacked = isOpen && (this.#isDown || this.#troubles.outages || this.#troubles.network)
      if (program.isAlive)
        this.#calls.push({ process: program, reservation: verdict, of, isUnbacked, least: amounts })
    }
    const verdict = program.holder.reserve('account', charges)
    if (verdict instanceof Promise) void verdict.then(take)
    else take(verdict)
  }

  #settle(): void {
    const call = this.#pick(this.#calls.filter(({ process }) => !process.isPaused))
    if (call !== null) this.#end(call)
  }

  #end(call: CallUnderWay): void {
    this.#calls = this.#calls.filter(other => other !== call)
    const dice = this.#random()
    // A checkpoint covers what comes until the next one.
    const bounds = this.#troubles.checkpoints ? call.least : call.reservation.reserved
    const spent = bounds.map(reserved => (dice < 0.3 ? reserved : dice < 0.5 ? 0 : this.#below(reserved + 1)))
    this.#note(`${call.process.name} settles ${call.of.map((i, at) => `b${i}=${spent[at]}`)}`)
    const real = call.of.map((i, at) => (this.#buckets[i]!.window.kind === 'none' ? 0 : spent[at]!))
    call.reservation.settle(real)
    for (const [at, bucket] of call.of.entries()) {
      this.#spentInAll[bucket]! += real[at]!
      if (call.isUnbacked) continue
      this.#grantedInAll[bucket]! += real[at]!
      this.#spent.push({ bucket, amount: real[at]!, at: this.#time })
    }
  }

  #extend(): void {
    const call = this.#pick(this.#calls.filter(({ process }) => !process.isPaused))
    if (call === null) return
    const more = call.of.map(i => this.#below(Math.ceil(this.#buckets[i]!.limit / 20)) + 1)
    const isGranted = (refusal: BudgetRefusal | null) => {
      this.#note(`${call.process.name} ${refusal === null ? 'extends' : 'may not extend'} by ${more}`)
    }
    const verdict = call.reservation.extend(more)
    if (verdict instanceof Promise) void verdict.then(isGranted)
    else isGranted(verdict)
  }

  #checkpoint(): void {
    const call = this.#pick(this.#calls)
    if (call === null) return
    const amounts = call.reservation.reserved.map(reserved => this.#below(reserved + 1))
    call.least = call.least.map((least, i) => Math.min(least, amounts[i]!))
    call.reservation.checkpoint(amounts)
  }

  #pass(ms: number): void {
    this.#time += ms
    this.#note(`${ms} ms pass`)
    for (const message of this.#mail)
      if (message.reject !== null && this.#time - message.sentAt > commandTimeout && !message.from.isPaused)
        this.#fail(message)
  }

  /** Many seconds, in which the processes look after their leases. */
  async #passLong(seconds: number): Promise<void> {
    for (let i = 0; i < seconds; i++) {
      this.#pass(2000)
      this.#look()
      await turn()
      if (this.#troubles.network || this.#isDown) this.#carry()
    }
  }

  #look(): void {
    this.#lookedAt = this.#time
    for (const { holder, isAlive, isPaused } of this.#programs) if (isAlive && !isPaused) void holder.look()
  }

  #crash(): void {
    const program = this.#pick(this.#programs.filter(({ isAlive }) => isAlive))
    if (program === null) return
    this.#note(`${program.name} is killed`)
    program.isAlive = false
    this.#hasCrashed = true
    for (const call of this.#calls.filter(({ process }) => process === program))
      for (const [at, bucket] of call.of.entries()) {
        const isHeld = this.#buckets[bucket]!.window.kind === 'none'
        if (!call.isUnbacked && !isHeld) this.#spent.push({ bucket, amount: call.least[at]!, at: this.#time })
      }
    this.#calls = this.#calls.filter(({ process }) => process !== program)
    for (const message of this.#mail) if (message.from === program) message.resolve = message.reject = null
    this.#start()
  }

  #pause(): void {
    const program = this.#pick(this.#programs.filter(({ isAlive }) => isAlive))
    if (program === null) return
    program.isPaused = !program.isPaused
    this.#note(`${program.name} ${program.isPaused ? 'stops' : 'goes on'}`)
  }

  #turnStore(): void {
    this.#isDown = !this.#isDown
    this.#note(`the store is ${this.#isDown ? 'down' : 'up'}`)
  }

  #change(): void {
    const i = this.#below(this.#buckets.length)
    const bucket = this.#buckets[i]!
    if (this.#random() < 0.3) {
      this.#note(`b${i} is reset`)
      this.#isReset = true
      const account = this.#accounts.get(`b${i}`)
      if (account !== undefined) resetAccount(account, bucket.window, this.#time)
      this.#spent = this.#spent.filter(({ bucket }) => bucket !== i)
      return
    }
    bucket.limit = Math.max(1, Math.floor(bucket.limit * (0.5 + this.#random() * 1.5)))
    bucket.most = Math.max(bucket.most, bucket.limit)
    this.#note(`the limit of b${i} is ${bucket.limit}`)
  }

  /** The network delivers, delays, loses and repeats. */
  #carry(): void {
    for (const message of [...this.#mail]) {
      const dice = this.#random()
      if (dice < 0.35) continue
      if (this.#isDown) {
        if (dice < 0.8) this.#fail(message)
      } else if (!message.isDelivered || dice < 0.4) {
        if (dice < 0.42) this.#fail(message)
        else {
          this.#deliver(message)
          if (dice < 0.9) this.#answer(message)
          else if (dice < 0.93) this.#fail(message)
        }
      } else this.#answer(message)
      const isOver = message.resolve === null && (message.isDelivered || dice > 0.7)
      if (isOver && this.#random() < 0.7) this.#mail.splice(this.#mail.indexOf(message), 1)
    }
  }

  /** Ends all calls, with a store that responds, and waits until every lease has ended. */
  async #settleAll(): Promise<void> {
    this.#isDown = false
    for (const program of this.#programs) program.isPaused = false
    for (const message of [...this.#mail]) {
      if (this.#random() < 0.5) this.#fail(message)
      else {
        if (!message.isDelivered) this.#deliver(message)
        this.#answer(message)
      }
    }
    this.#mail.length = 0
    Object.assign(this.#troubles, { network: false })
    for (let i = 0; i < 12; i++) {
      await turn()
      for (const message of this.#mail.splice(0)) {
        this.#deliver(message)
        this.#answer(message)
      }
      for (const call of [...this.#calls]) this.#end(call)
      this.#pass(2500)
      this.#look()
      await turn()
    }
    this.#checkEnd()
  }

  #checkAccounts(): void {
    for (const [bucket, { slots, shares }] of this.#accounts) {
      if (slots.some(([, spent]) => spent < 0)) this.#fault(`${bucket} has spent less than nothing`)
      for (const [name, { amount, ifLost }] of Object.entries(shares))
        if (amount < 0 || ifLost < 0 || ifLost > amount)
          this.#fault(`${bucket} lends ${amount}, ${ifLost} to ${name}`)
    }
  }

  /** What is certainly spent and what is reserved never exceeds the limit. */
  #checkSpent(): void {
    const { pauses, outages, network } = this.#troubles
    for (const [i, { window, most }] of this.#buckets.entries()) {
      // A lease that ends holds nothing any more, although its process may go on.
      if ((window.kind === 'none' || this.#isReset) && (pauses || outages || network)) continue
      // What an expired lease was charged leaves the window while its call still waits to be ended.
      const isShort = window.kind === 'sliding' && window.period < 600_000
      if (isShort && (pauses || outages || network)) continue
      const since = window.kind === 'sliding' ? this.#time - window.period : Number.NEGATIVE_INFINITY
      let sum = 0
      for (const { bucket, amount, at } of this.#spent) if (bucket === i && at > since) sum += amount
      for (const { of, reservation, isUnbacked, least } of this.#calls) {
        const at = of.indexOf(i)
        if (at !== -1 && !isUnbacked)
          sum += this.#troubles.checkpoints ? least[at]! : reservation.reserved[at]!
      }
      if (sum > most) this.#fault(`${sum} of ${most} are spent or reserved in b${i}`)
    }
  }

  #checkEnd(): void {
    for (const [i, { window }] of this.#buckets.entries()) {
      const account = this.#accounts.get(`b${i}`)
      if (account === undefined) continue
      const { spent, leased } = readAccount(account, window, this.#time)
      if (leased !== 0) this.#fault(`${leased} of b${i} are leased although nothing is under way`)
      const isOver = window.kind === 'none' || (window.kind === 'sliding' && window.period < 600_000)
      if (isOver || this.#isReset || window.kind === 'sliding') continue
      const truth = this.#spentInAll[i]!
      if (!this.#hasCrashed && spent !== truth)
        this.#fault(`b${i} has spent ${spent}, but calls spent ${truth}`)
      // What a process admitted without the store is lost with it.
      const least = this.#grantedInAll[i]!
      if (this.#hasCrashed && !this.#troubles.checkpoints && spent < least)
        this.#fault(`b${i} has spent ${spent}, but calls spent at least ${least}`)
    }
  }

  #fault(text: string): void {
    this.#note(`FAULT: ${text}`)
    this.faults.push(text)
  }

  #note(text: string): void {
    if (this.#traces) this.trace.push(`${this.#time % 100_000_000} ${text}`)
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound)
  }

  #pick<T>(list: readonly T[]): T | null {
    return list.length === 0 ? null : list[this.#below(list.length)]!
  }
}

function structuredCloneOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value))
}

/** Mulberry32: from 0 up to but not 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
