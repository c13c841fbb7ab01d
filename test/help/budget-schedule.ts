// One schedule of processes that spend budgets together, on clocks, a store and a network that do what the seed says.

import { setImmediate as turn } from 'node:timers/promises'
import { BudgetHolder } from '../../src/budgets/budget-holder.ts'
import type { BudgetRefusal, LimitedBucket } from '../../src/budgets/charge.ts'
import type { Reservation } from '../../src/budgets/reservation.ts'
import { readAccount } from '../../src/store/budget-ledger/ledger.ts'
import type { MaybeAtOnce } from '../../src/store/contract/store.ts'
import type { BudgetReply, BudgetStep, BudgetWindow } from '../../src/store/records/budget.ts'
import { type Call, type Program, type Spending, Truth } from './budget-truth.ts'
import { randomOf } from './random.ts'
import { type Message, SimulatedStore } from './simulated-store.ts'

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
  readonly excesses: boolean
}

/** Ms for which a process waits for a step. */
const patience = 1000
const hour = 3_600_000
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
  readonly #spendings: Spending[] = []
  readonly #accounts: readonly string[]
  readonly #store = new SimulatedStore()
  readonly #truth: Truth
  readonly #programs: Program[] = []
  readonly #mail: Message[] = []
  /** Calls that were not decided yet, by process. */
  readonly #undecided = new Map<Program, number>()
  #isNetworkBad: boolean
  #isDown = false
  #time = 1_700_000_000_000
  #lookedAt = this.#time
  /** Hours that may still pass at once: stores remember processes for a day. */
  #hours = 20

  constructor(seed: number, traces: boolean) {
    this.#traces = traces
    this.#random = randomOf(seed)
    const maybe = (part = 0.5) => this.#random() < part
    this.#troubles = {
      crashes: maybe(),
      pauses: maybe(),
      network: maybe(),
      outages: maybe(0.4),
      checkpoints: maybe(0.4),
      changes: maybe(0.3),
      excesses: maybe(0.3),
    }
    this.#isNetworkBad = this.#troubles.network
    this.#accounts = Array.from({ length: 1 + this.#below(1.5) }, (_, i) => `a${i}`)
    for (const account of this.#accounts) {
      const count = 1 + this.#below(3)
      for (let i = 0; i < count; i++) this.#spendings.push(this.#spending(account, `b${i}`))
    }
    this.#truth = new Truth(this.#store, this.#spendings, {
      began: this.#time,
      mayLose: this.#isTroubled || this.#troubles.pauses,
      fault: text => this.#fault(text),
    })
    const programs = 1 + this.#below(4)
    for (let i = 0; i < programs; i++) this.#start()
  }

  async run(): Promise<void> {
    const length = 30 + this.#below(90)
    for (let i = 0; i < length && this.faults.length === 0; i++) await this.#next()
    if (this.faults.length === 0) await this.#end()
  }

  #spending(account: string, bucket: string): Spending {
    const limit = 10 ** (1 + this.#below(4)) * (1 + this.#below(9))
    const kind = this.#below(3)
    const window: BudgetWindow =
      kind === 0
        ? { kind: 'fixed', until: this.#time + 1000 * 10 ** (1 + this.#below(5)) }
        : kind === 1
          ? { kind: 'sliding', period: 60_000 * 10 ** this.#below(4) }
          : { kind: 'none' }
    const isOpen = this.#random() < 0.2
    const key = `${account}/${bucket}`
    return {
      account,
      bucket,
      key,
      window,
      limit,
      most: limit,
      isOpen,
      beyond: 0,
      uncertain: 0,
      isReset: false,
    }
  }

  #start(): void {
    const name = `p${this.#programs.length}`
    const budgets = { step: (step: BudgetStep) => this.#send(program, step), read: async () => [] }
    const clock = { now: () => this.#time, monotonic: () => this.#time }
    const log = { warn: () => {}, info: () => {} }
    const holder = new BudgetHolder({ budgets, clock, log, id: name, ...alone })
    const program: Program = { name, holder, isAlive: true, isPaused: false }
    this.#programs.push(program)
    this.#store.start(name)
    this.#undecided.set(program, 0)
  }

  #send(from: Program, step: BudgetStep): Promise<BudgetReply> {
    if (this.#undecided.get(from) === 0) this.#truth.checkStep(from, step)
    return new Promise((resolve, reject) => {
      const levels = this.#levelsIn(from, step)
      const message = { from, step, levels, sentAt: this.#time, reply: null, resolve, reject }
      this.#mail.push(message)
      if (this.#isNetworkBad || this.#isDown) return
      this.#deliver(message)
      this.#answer(message)
    })
  }

  /** The checkpoints of calls that a step says. */
  #levelsIn(from: Program, { account, lines }: BudgetStep): Map<Call, number> {
    const said = new Map<Call, number>()
    if (!this.#troubles.checkpoints) return said
    const isSaid = (of: Spending) =>
      of.account === account && lines.some(({ bucket }) => bucket === of.bucket)
    for (const call of this.#truth.calls)
      if (call.process === from && call.of.every(isSaid)) said.set(call, call.levels!.length - 1)
    return said
  }

  #deliver(message: Message): void {
    // That it may count once more is known, and stated by the contract.
    if (this.#store.isTooLate(message, this.#time)) return this.#fail(message)
    this.#note(`the store takes ${message.from.name} #${message.step.sequence}`)
    this.#store.take(message, this.#time)
    this.#truth.checkReply(message)
  }

  #answer(message: Message): void {
    const { from, reply, resolve, levels } = message
    if (from.isAlive && reply !== null && resolve !== null) {
      // The store has the checkpoints of then, and knows nothing of later ones.
      for (const [call, level] of levels) if (call.levels !== null) call.levels.splice(0, level)
      for (const other of this.#mail)
        for (const [call, level] of other.levels)
          other.levels.set(call, Math.max(0, level - (levels.get(call) ?? 0)))
      resolve(reply)
    }
    message.resolve = message.reject = null
  }

  #fail(message: Message): void {
    message.reject?.(new Error('store unreachable'))
    message.resolve = message.reject = null
  }

  async #next(): Promise<void> {
    this.events++
    const { crashes, pauses, outages, checkpoints, changes } = this.#troubles
    const dice = this.#random() * 100
    if (dice < 38) this.#call()
    else if (dice < 56) this.#settle()
    else if (dice < 66) this.#pass(this.#below(3000))
    else if (dice < 68) await this.#passLong(this.#below(20), 2000)
    else if (dice < 76) this.#look()
    else if (dice < 79) this.#extend()
    else if (dice < 84 && checkpoints) this.#checkpoint()
    else if (dice < 85 && crashes) this.#crash()
    else if (dice < 88 && pauses) this.#pause()
    else if (dice < 90 && outages) this.#turnStore()
    else if (dice < 92 && changes) this.#change()
    else if (dice < 96) this.#use()
    else if (dice < 97 && this.#isDown) await this.#passHours()
    // Only a process that is stopped misses its looks for long.
    if (!pauses && this.#time - this.#lookedAt > 5000) this.#look()
    if (this.#isNetworkBad || this.#isDown) this.#carry()
    await turn()
    this.#truth.check(this.#time)
  }

  #call(): void {
    const program = this.#pick(this.#programs.filter(({ isAlive, isPaused }) => isAlive && !isPaused))
    if (program === null) return
    const account = this.#pick(this.#accounts)!
    const all = this.#spendings.filter(spending => spending.account === account)
    const of = all.filter(() => this.#random() < 0.7)
    if (of.length === 0) return
    if (of.some(({ window }) => window.kind === 'fixed' && window.until <= this.#time)) return
    const amounts = of.map(
      ({ limit }) => 1 + this.#below(Math.max(1, Math.ceil(limit / 10 ** this.#below(4)))),
    )
    const buckets = of.map(
      ({ bucket, window, limit, isOpen }): LimitedBucket => ({
        ...{ bucket, window, limit, whenUnreachable: isOpen ? 'open' : 'closed' },
      }),
    )
    // What is admitted without the store may exceed the limit.
    const isBacked = !this.#isTroubled || of.some(({ isOpen }) => !isOpen)
    const decision = program.holder.reserve(account, buckets, amounts)
    if (!(decision instanceof Promise) && 'buckets' in decision && isBacked)
      this.#truth.checkDraw(program, of, this.#time)
    this.#decide(program, decision, verdict => {
      if (!('buckets' in verdict)) {
        const maxAmount = Math.min(buckets[verdict.charge]!.limit, of[verdict.charge]!.limit)
        return this.#refused(program, verdict, amounts[verdict.charge]! <= maxAmount)
      }
      this.#note(`${program.name} admits ${of.map(({ bucket }, i) => `${bucket}=${amounts[i]}`)}`)
      this.#truth.calls.add({
        ...{ process: program, reservation: verdict, of, isBacked, used: of.map(() => 0) },
        levels: this.#troubles.checkpoints ? [amounts] : null,
        ...{ ended: new Map(), forgiven: new Set() },
      })
    })
  }

  /** Whether the store may be unreachable for a process. */
  get #isTroubled(): boolean {
    return this.#troubles.outages || this.#troubles.network
  }

  #decide<T>(program: Program, verdict: MaybeAtOnce<T>, take: (verdict: T) => void): void {
    if (!(verdict instanceof Promise)) return take(verdict)
    this.#undecided.set(program, this.#undecided.get(program)! + 1)
    void verdict.then(verdict => {
      this.#undecided.set(program, this.#undecided.get(program)! - 1)
      if (program.isAlive) take(verdict)
    })
  }

  #refused({ name }: Program, { reason, spent, wait }: BudgetRefusal, mayFit: boolean): void {
    this.#note(`${name} refuses: ${reason}`)
    if (!(spent >= 0 && wait >= 0))
      this.#fault(`a refusal says that ${spent} are spent, and to wait ${wait} ms`)
    if (reason === 'never' && mayFit) this.#fault('a call is refused for ever that may fit')
    if (reason === 'store_unreachable' && !this.#isTroubled)
      this.#fault('a call is refused as the store is unreachable')
  }

  #settle(): void {
    const call = this.#pick([...this.#truth.calls].filter(({ process }) => !process.isPaused))
    if (call !== null) this.#endCall(call)
  }

  #endCall(call: Call): void {
    const dice = this.#random()
    const isExcess = this.#troubles.excesses && this.#random() < 0.2
    const spent = call.of.map(({ window }, i) => {
      if (window.kind === 'none') return 0
      if (isExcess) return this.#below(2 * call.reservation.reserved[i]! + 1)
      const most = Math.max(this.#truth.coverOf(call, i), call.used[i]!)
      return dice < 0.3 ? most : Math.max(call.used[i]!, dice < 0.5 ? 0 : this.#below(most + 1))
    })
    this.#note(`${call.process.name} settles ${call.of.map(({ bucket }, i) => `${bucket}=${spent[i]}`)}`)
    call.reservation.settle(spent)
    if (dice < 0.1) call.reservation.settleWhole()
    this.#truth.settle(call, spent, this.#time)
  }

  /** A call gets further, as far as the store would charge it. */
  #use(): void {
    const call = this.#pick([...this.#truth.calls].filter(({ process }) => !process.isPaused))
    if (call === null) return
    for (const [i, used] of call.used.entries()) {
      const left = this.#truth.coverOf(call, i) - used
      if (call.of[i]!.window.kind !== 'none' && left > 0) call.used[i] = used + this.#below(left + 1)
    }
  }

  #extend(): void {
    const call = this.#pick([...this.#truth.calls].filter(({ process }) => !process.isPaused))
    if (call === null) return
    const more = call.of.map(({ limit }) => this.#below(Math.ceil(limit / 20)) + 1)
    this.#decide(call.process, call.reservation.extend(more), refusal => {
      this.#note(`${call.process.name} ${refusal === null ? 'extends' : 'may not extend'} by ${more}`)
      const last = call.levels?.at(-1)
      if (refusal === null && last !== undefined) call.levels!.push(last.map((level, i) => level + more[i]!))
    })
  }

  #checkpoint(): void {
    const call = this.#pick([...this.#truth.calls].filter(({ process }) => !process.isPaused))
    if (call === null) return
    const { reserved } = call.reservation
    const amounts = call.used.map((used, i) => used + this.#below(Math.max(0, reserved[i]! - used) + 1))
    call.levels!.push(amounts)
    call.reservation.checkpoint(amounts)
  }

  #pass(ms: number): void {
    this.#time += ms
    this.#note(`${ms} ms pass`)
    for (const message of this.#mail)
      if (message.reject !== null && this.#time - message.sentAt > patience && !message.from.isPaused)
        this.#fail(message)
  }

  /** Time in which the processes look after their leases. */
  async #passLong(looks: number, pause: number): Promise<void> {
    for (let i = 0; i < looks; i++) {
      this.#pass(pause)
      this.#look()
      await turn()
      if (this.#isNetworkBad || this.#isDown) this.#carry()
    }
  }

  async #passHours(): Promise<void> {
    const hours = this.#below(this.#hours)
    this.#hours -= hours
    await this.#passLong(10, (hours * hour) / 10)
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
    this.#store.kill(program.name)
    this.#truth.crash(program, this.#time)
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
    const of = this.#pick(this.#spendings)!
    const name = of.key
    if (this.#random() < 0.3) {
      this.#note(`${name} is reset`)
      this.#truth.reset(of, this.#time)
      this.#store.reset(of, this.#time)
      return
    }
    of.limit = Math.max(1, Math.floor(of.limit * (0.5 + this.#random() * 1.5)))
    of.most = Math.max(of.most, of.limit)
    this.#note(`the limit of ${name} is ${of.limit}`)
  }

  /** The network delivers, delays, loses and repeats. */
  #carry(): void {
    for (const message of [...this.#mail]) {
      const dice = this.#random()
      if (dice < 0.35) continue
      if (this.#isDown) {
        if (dice < 0.8) this.#fail(message)
      } else if (message.reply === null && dice < 0.42) this.#fail(message)
      else {
        const isAgain = message.reply !== null
        if (!isAgain || dice < 0.5) this.#deliver(message)
        if (isAgain || dice < 0.9) this.#answer(message)
        else if (dice < 0.93) this.#fail(message)
      }
      const isOver = message.resolve === null && (message.reply !== null || dice > 0.7)
      if (isOver && this.#random() < 0.7) this.#mail.splice(this.#mail.indexOf(message), 1)
    }
  }

  /** Ends all calls, with a store that responds, and waits until every lease has ended. */
  async #end(): Promise<void> {
    this.#isDown = this.#isNetworkBad = false
    for (const program of this.#programs) program.isPaused = false
    for (const message of this.#mail.splice(0)) {
      if (this.#random() < 0.5) this.#fail(message)
      else {
        if (message.reply === null) this.#deliver(message)
        this.#answer(message)
      }
    }
    for (let i = 0; i < 12; i++) {
      await turn()
      for (const call of this.#truth.calls) this.#endCall(call)
      this.#pass(2500)
      this.#look()
      await turn()
      this.#truth.check(this.#time)
    }
    for (const [{ name, isAlive }, count] of this.#undecided)
      if (isAlive && count > 0) this.#fault(`${count} calls of ${name} still wait`)
    this.#truth.checkEnd(this.#time)
    await this.#checkRoom()
  }

  /** What is left of a budget can be had, and all processes know that the store is back. */
  async #checkRoom(): Promise<void> {
    for (const { name, holder, isAlive } of this.#programs) {
      if (!isAlive) continue
      for (const { account, bucket, window, limit } of this.#spendings) {
        const own = { bucket, window, limit, whenUnreachable: 'closed' } as const
        const verdict: Reservation | BudgetRefusal = await holder.reserve(account, [own], [1])
        if ('buckets' in verdict) verdict.settle([0])
        else if (verdict.reason === 'store_unreachable')
          this.#fault(`${name} does not know that the store is back`)
      }
      await holder.close()
    }
    this.#start()
    const { holder } = this.#programs.at(-1)!
    for (const of of this.#spendings) {
      const { account, bucket, window, limit } = of
      const amount = limit - readAccount(this.#store.accountOf(of), window, this.#time).spent
      if (amount <= 0 || (window.kind === 'fixed' && window.until <= this.#time)) continue
      const own = { bucket, window, limit, whenUnreachable: 'closed' } as const
      const verdict: Reservation | BudgetRefusal = await holder.reserve(account, [own], [amount])
      if ('reason' in verdict) this.#fault(`${amount} of ${account}/${bucket} are left, and cannot be had`)
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
