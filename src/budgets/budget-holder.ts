// Reserves what calls may spend. Far from a limit a process draws from shares that the store has lent to it;
// near one, each call is one step of the store, atomic over all its budgets. While the steps of an account
// fail, its calls do not wait for them: a look finds out that the store is back.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { inTime } from '../base/turns/in-time.ts'
import { BudgetMetrics } from '../metrics/counters/budget-metrics.ts'
import type { Logger } from '../log/log.ts'
import type { BudgetReply } from '../store/records/budget.ts'
import type { Budgets } from '../store/contract/budgets.ts'
import { type MaybeAtOnce, StoreUnreachable } from '../store/contract/store.ts'
import type { BudgetRefusal, LimitedBucket } from './charge.ts'
import { Purse } from './purse.ts'
import { type Decision, type Lender, Reservation } from './reservation.ts'

interface HolderOptions {
  readonly budgets: Pick<Budgets, 'step' | 'read'>
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn' | 'info'>
  readonly metrics?: Pick<BudgetMetrics, 'steps' | 'uncounted' | 'reached'>
  /** Unique among all processes; random by default. */
  readonly id?: string
  /** Ms between two looks; null if somebody else calls `look`. */
  readonly lookPeriod?: number | null
  /** Ms for which a call waits for a step; null as long as the store takes. */
  readonly patience?: number | null
}

/** Ms for which shares are leased, and between two looks at them. */
const lease = 15_000
const usualPeriod = 1_000
/** Ms after which the outcome of a step counts as unknown. */
const usualPatience = 1_000
/** Accounts whose steps one look sends at a time. */
const maxAtOnce = 100
/** Lines of a step that no call waits for. */
const maxLines = 500
/** Buckets of an account that are remembered although the store never heard of them. */
const maxUnheardOf = 10_000

type Verdict = Reservation | BudgetRefusal

/** What a call asks for: an amount of each bucket, and the purses that these come from. */
interface Asked {
  readonly buckets: readonly LimitedBucket[]
  readonly amounts: readonly number[]
  readonly purses: readonly Purse[]
}

interface Waiting extends Asked {
  readonly resolve: (decision: Decision) => void
}

/** The shares of one account. */
interface Account {
  readonly id: string
  readonly purses: Map<string, Purse>
  /** Of the latest call. Most calls are like the one before, and share its list. */
  latest: Pick<Asked, 'buckets' | 'purses'> | null
  waiting: Waiting[]
  /** Whether steps of it are sent, one after the other. */
  isBusy: boolean
  /** Resolves once they have an outcome. */
  work: Promise<void>
  /** Whether its last step failed. */
  isOut: boolean
}

export class BudgetHolder implements Lender {
  readonly #budgets: HolderOptions['budgets']
  readonly #clock: Clock
  readonly #log: HolderOptions['log']
  readonly #metrics: NonNullable<HolderOptions['metrics']>
  readonly #id: string
  readonly #lookPeriod: number | null
  readonly #patience: number | null
  readonly #accounts = new Map<string, Account>()
  #shares = 0
  #sequence = 0
  /** Accounts whose last step failed. */
  #out = 0
  #isClosing = false
  #looks: NodeJS.Timeout | null = null

  constructor({
    budgets,
    clock,
    log,
    metrics = new BudgetMetrics(),
    id = randomBytes(9).toString('base64url'),
    lookPeriod = usualPeriod,
    patience = usualPatience,
  }: HolderOptions) {
    this.#lookPeriod = lookPeriod
    this.#patience = patience
    this.#budgets = budgets
    this.#clock = clock
    this.#log = log
    this.#metrics = metrics
    this.#id = id
  }

  /**
   * Reserves an amount of each bucket: at once where all are far from their limits, or one was refused just
   * now. Never rejects.
   */
  reserve(
    account: string,
    buckets: readonly LimitedBucket[],
    amounts: readonly number[],
  ): MaybeAtOnce<Verdict> {
    const now = this.#clock.monotonic()
    const own = this.#accountOf(account)
    const purses = this.#pursesOf(own, buckets, now)
    let isNear = false
    for (let i = 0; i < purses.length; i++) {
      const purse = purses[i]!
      purse.limitTo(buckets[i]!.limit)
      if (!purse.canDraw(amounts[i]!, now)) isNear = true
    }
    if (!isNear) {
      for (let i = 0; i < purses.length; i++) purses[i]!.draw(amounts[i]!, now)
      return new Reservation(this, account, buckets, amounts, purses)
    }
    const asked = { buckets, amounts, purses }
    const decision = this.#fit(own, asked, now)
    return decision instanceof Promise
      ? decision.then(decision => this.#take(account, asked, decision))
      : this.#take(account, asked, decision)
  }

  /** What `reserve` would say; nothing is reserved. Null for a call that would be admitted. Never rejects. */
  async foretell(
    account: string,
    buckets: readonly LimitedBucket[],
    amounts: readonly number[],
  ): Promise<BudgetRefusal | null> {
    const now = this.#clock.monotonic()
    const purses = buckets.map(({ bucket }) => this.#accounts.get(account)?.purses.get(bucket))
    if (purses.every((purse, i) => purse?.canDraw(amounts[i]!, now) === true)) return null
    const excess = buckets.findIndex(({ limit }, i) => !(amounts[i]! <= limit))
    if (excess !== -1) return neverFits(buckets[excess]!, excess, purses[excess]?.used ?? 0)
    try {
      const sums = await this.#budgets.read(account, buckets)
      const used = sums.map(({ spent, leased }, i) => spent + leased - (purses[i]?.free ?? 0))
      const charge = buckets.findIndex(({ limit }, i) => amounts[i]! > 0 && used[i]! + amounts[i]! > limit)
      if (charge === -1) return null
      const { limit, window } = buckets[charge]!
      const refusal = { reason: 'over', charge, limit, spent: used[charge]! } as const
      if (window.kind === 'fixed') return { ...refusal, wait: Math.max(0, window.until - this.#clock.now()) }
      return { ...refusal, wait: unknownWait, isEstimate: true }
    } catch {
      const charge = closedOf(buckets)
      return charge === -1 ? null : unreachable(buckets[charge]!, charge)
    }
  }

  lend(
    account: string,
    buckets: readonly LimitedBucket[],
    amounts: readonly number[],
    purses: readonly Purse[],
  ): MaybeAtOnce<Decision> {
    const now = this.#clock.monotonic()
    if (purses.some((purse, i) => !purse.canDraw(amounts[i]!, now)))
      return this.#fit(this.#accountOf(account), { buckets, amounts, purses }, now)
    for (const [i, purse] of purses.entries()) purse.draw(amounts[i]!, now)
    return 'granted'
  }

  /** Looks after all shares: reports what was spent, renews leases, returns what is idle. */
  async look(): Promise<void> {
    const probes: Promise<void>[] = []
    let steps: Promise<void>[] = []
    for (const account of this.#accounts.values()) {
      if (!this.#needsStep(account)) continue
      // None waits for another one whose step takes long.
      if (account.isOut) probes.push(this.#serve(account))
      else steps.push(this.#serve(account))
      if (steps.length < maxAtOnce) continue
      await Promise.all(steps)
      steps = []
    }
    await Promise.all([...probes, ...steps])
    this.#noteReached()
    if (this.#accounts.size === 0) this.#rest()
  }

  #noteReached(): void {
    const { reached } = this.#metrics
    reached['0.8'].value = reached['1'].value = 0
    for (const { purses } of this.#accounts.values())
      for (const { usedShare } of purses.values()) {
        if (usedShare >= 0.8) reached['0.8'].value++
        if (usedShare >= 1) reached['1'].value++
      }
  }

  /** Reports what was spent and returns what is free, as far as the store responds. */
  async close(): Promise<void> {
    this.#rest()
    this.#isClosing = true
    const accounts = [...this.#accounts.values()]
    await Promise.all(accounts.map(account => this.#finish(account)))
    const uncounted = accounts.filter(isUncounted).map(({ id }) => id)
    if (uncounted.length > 0)
      this.#log.warn({ accounts: uncounted }, 'spending of budgets lost: store unreachable until the end')
  }

  async #finish(account: Account): Promise<void> {
    const wasOut = account.isOut
    while (account.isBusy) await account.work
    // A store that fails just now is not waited for twice.
    if (wasOut || !account.isOut) await this.#serve(account)
  }

  /** Forgets what is of no use any more; whether the rest needs a step, and none is under way. */
  #needsStep(account: Account): boolean {
    if (account.isBusy) return false
    const now = this.#clock.monotonic()
    account.latest = null
    // None of them can be of a call that waits.
    for (const [key, purse] of account.purses) if (purse.isIdle(now)) account.purses.delete(key)
    forgetUnheardOf(account)
    if (account.isOut || hasDue(account, now)) return true
    if (account.purses.size === 0) this.#accounts.delete(account.id)
    return false
  }

  #accountOf(id: string): Account {
    const existing = this.#accounts.get(id)
    if (existing !== undefined) return existing
    const account: Account = {
      id,
      purses: new Map(),
      latest: null,
      waiting: [],
      isBusy: false,
      work: Promise.resolve(),
      isOut: false,
    }
    this.#accounts.set(id, account)
    if (this.#lookPeriod !== null)
      this.#looks ??= setInterval(() => void this.look(), this.#lookPeriod).unref()
    return account
  }

  #pursesOf(account: Account, buckets: readonly LimitedBucket[], now: number): readonly Purse[] {
    const { latest } = account
    if (latest?.buckets === buckets) return latest.purses
    const purses = buckets.map(
      bucket => account.purses.get(bucket.bucket) ?? this.#open(account, bucket, now),
    )
    account.latest = { buckets, purses }
    return purses
  }

  #open(account: Account, bucket: LimitedBucket, now: number): Purse {
    const purse = new Purse(bucket, `${this.#id}.${(this.#shares++).toString(36)}`, now)
    account.purses.set(bucket.bucket, purse)
    return purse
  }

  #take(account: string, { buckets, amounts, purses }: Asked, decision: Decision): Verdict {
    if (typeof decision !== 'string') return decision
    return new Reservation(this, account, buckets, amounts, purses, decision === 'granted')
  }

  /** Reserves by a step of the store, unless one of the amounts never fits, or was refused just now. */
  #fit(account: Account, asked: Asked, now: number): MaybeAtOnce<Decision> {
    const { buckets, amounts, purses } = asked
    const excess = buckets.findIndex(({ limit }, i) => !(amounts[i]! <= limit))
    if (excess !== -1) return neverFits(buckets[excess]!, excess, purses[excess]!.used)
    for (const [i, purse] of purses.entries()) {
      const refusal = purse.refusalOf(amounts[i]!, i, now)
      if (refusal !== null) return refusal
    }
    if (account.isOut) return admitWithout(asked, now)
    const { promise, resolve } = Promise.withResolvers<Decision>()
    account.waiting.push({ ...asked, resolve })
    if (!account.isBusy) void this.#serve(account)
    return promise
  }

  #serve(account: Account): Promise<void> {
    account.isBusy = true
    account.work = this.#stepOn(account)
    return account.work
  }

  /** Sends what is due; calls that come while a step is under way share the next one. */
  async #stepOn(account: Account): Promise<void> {
    do {
      const calls = this.#withoutRefused(account.waiting)
      account.waiting = []
      if (!(await this.#step(account, calls))) await this.#stepApart(account, calls)
    } while (account.waiting.length > 0 || this.#goesOn(account))
    account.isBusy = false
  }

  /** Sends steps for calls that do not fit together: as few as may be, since all of them wait. */
  async #stepApart(account: Account, calls: readonly Waiting[]): Promise<void> {
    let rest = calls
    // What seemed to fit may be taken by other processes; a call alone is decided by its step.
    for (let isTaken = true; rest.length > 0; rest = this.#withoutRefused(rest)) {
      const next = isTaken ? fitting(rest) : rest.slice(0, 1)
      isTaken = await this.#step(account, next)
      if (!isTaken) continue
      const decided = new Set(next)
      rest = rest.filter(call => !decided.has(call))
    }
  }

  /** Refuses those for whom a refusal can be repeated, and returns the others. */
  #withoutRefused(calls: readonly Waiting[]): readonly Waiting[] {
    return calls.filter(call => !isRefused(call, this.#clock.monotonic()))
  }

  /** Whether one step could not say everything. */
  #goesOn(account: Account): boolean {
    return account.purses.size > maxLines && !account.isOut && hasDue(account, this.#clock.monotonic())
  }

  /** Sends one step; false if several calls do not fit together. */
  async #step(account: Account, calls: readonly Waiting[]): Promise<boolean> {
    const now = this.#clock.monotonic()
    // The step before has failed.
    if (account.isOut && calls.length > 0) return admitAllWithout(calls, now)
    const needs = needsOf(calls)
    for (const purse of account.purses.values()) {
      if (needs.size >= maxLines) break
      if (!needs.has(purse) && (this.#isClosing ? !purse.isEmpty : purse.needsStep(now))) needs.set(purse, 0)
    }
    if (needs.size === 0) {
      this.#comeBack(account)
      return true
    }
    const purses = [...needs.keys()]
    const lines = Array.from(needs, ([purse, need]) => purse.line(need, now, this.#isClosing))
    try {
      const step = { account: account.id, sequence: ++this.#sequence, lease, lines }
      const reply = await this.#bound(this.#budgets.step(step))
      this.#metrics.steps[reply.isGranted ? 'granted' : 'refused'].inc()
      this.#comeBack(account)
      for (const [i, purse] of purses.entries()) purse.confirm(reply.states[i]!, reply.isGranted, now)
      if (!reply.isGranted && calls.length > 1) return false
      for (const call of calls) call.resolve(this.#verdict(call, purses, reply))
    } catch (error) {
      this.#metrics.steps.failed.inc()
      this.#goOut(account, error)
      for (const purse of purses) purse.lose()
      admitAllWithout(calls, this.#clock.monotonic())
    }
    return true
  }

  #bound(reply: Promise<BudgetReply>): Promise<BudgetReply> {
    return this.#patience === null ? reply : inTime(reply, this.#patience, tooLate)
  }

  #verdict(asked: Asked, stepped: readonly Purse[], reply: BudgetReply): Decision {
    const now = this.#clock.monotonic()
    const { amounts, purses } = asked
    if (reply.isGranted) {
      for (const [i, purse] of purses.entries()) purse.hold(amounts[i]!, now)
      return 'granted'
    }
    for (const [i, purse] of purses.entries()) {
      const state = reply.states[stepped.indexOf(purse)]!
      if (state.fits) continue
      return purse.refuse(amounts[i]!, i, state, now)
    }
    // The step arrived late: its outcome is unknown.
    return admitWithout(asked, now)
  }

  #goOut(account: Account, error: unknown): void {
    if (account.isOut) return
    account.isOut = true
    this.#metrics.uncounted.inc()
    if (++this.#out === 1) this.#log.warn({ err: error }, 'budgets not counted: store unreachable')
  }

  #comeBack(account: Account): void {
    if (!account.isOut) return
    account.isOut = false
    this.#metrics.uncounted.dec()
    if (--this.#out === 0) this.#log.info('budgets counted again')
  }

  #rest(): void {
    if (this.#looks !== null) clearInterval(this.#looks)
    this.#looks = null
  }
}

/** The store remembers nothing of such calls, which may name values without end. */
function neverFits({ limit }: LimitedBucket, charge: number, spent: number): BudgetRefusal {
  return { reason: 'never', charge, limit, spent, wait: Number.POSITIVE_INFINITY }
}

function unreachable({ limit }: LimitedBucket, charge: number): BudgetRefusal {
  return { reason: 'store_unreachable', charge, limit, spent: 0, wait: outageWait }
}

/** The first that admits nothing without the store; -1 for none. */
function closedOf(buckets: readonly LimitedBucket[]): number {
  return buckets.findIndex(({ whenUnreachable }) => whenUnreachable === 'closed')
}

/** Admits a call without the store, or refuses it if one of its rules says so. */
function admitWithout({ buckets, amounts, purses }: Asked, now: number): Decision {
  const charge = closedOf(buckets)
  if (charge !== -1) return unreachable(buckets[charge]!, charge)
  for (const [i, purse] of purses.entries()) purse.hold(amounts[i]!, now)
  return 'admitted'
}

function admitAllWithout(calls: readonly Waiting[], now: number): true {
  for (const call of calls) call.resolve(admitWithout(call, now))
  return true
}

function tooLate(): never {
  throw new StoreUnreachable({ code: 'ETIMEDOUT' })
}

/** Ms; nobody knows how long an outage takes. */
const outageWait = 30_000
/** Ms; a sum does not say what leaves its window when. */
const unknownWait = 1_000

/** Values of clients may make buckets without end while the store is unreachable. */
function forgetUnheardOf({ purses }: Account): void {
  if (purses.size <= maxUnheardOf) return
  for (const [key, purse] of purses) {
    if (purse.isUnheardOf) purses.delete(key)
    if (purses.size <= maxUnheardOf) return
  }
}

/** Whether the store did not confirm all that was spent. */
function isUncounted({ purses }: Account): boolean {
  for (const purse of purses.values()) if (purse.isUncounted) return true
  return false
}

function hasDue({ purses }: Account, now: number): boolean {
  for (const purse of purses.values()) if (purse.needsStep(now)) return true
  return false
}

function needsOf(calls: readonly Waiting[]): Map<Purse, number> {
  const needs = new Map<Purse, number>()
  for (const { amounts, purses } of calls)
    for (const [i, purse] of purses.entries()) needs.set(purse, (needs.get(purse) ?? 0) + amounts[i]!)
  return needs
}

/** Returns calls that fit together as far as this process knows, or the first one. */
function fitting(calls: readonly Waiting[]): readonly Waiting[] {
  const room = new Map<Purse, number>()
  const roomOf = (purse: Purse) => room.get(purse) ?? purse.remaining
  const those = calls.filter(({ amounts, purses }) => {
    if (purses.some((purse, i) => amounts[i]! > roomOf(purse))) return false
    for (const [i, purse] of purses.entries()) room.set(purse, roomOf(purse) - amounts[i]!)
    return true
  })
  return those.length === 0 ? calls.slice(0, 1) : those
}

/** Refuses a call that waits if another one of its kind was refused just now. */
function isRefused({ amounts, purses, resolve }: Waiting, now: number): boolean {
  for (const [i, purse] of purses.entries()) {
    const refusal = purse.refusalOf(amounts[i]!, i, now)
    if (refusal === null) continue
    resolve(refusal)
    return true
  }
  return false
}
