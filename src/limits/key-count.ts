// What this process knows of the count of one key: what the store said last, and what it has let in since.

import { hash } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { SlidingWindow } from '../base/sliding-window.ts'
import type { CounterAnswer, CounterAsk, CounterWindow } from '../store/store.ts'
import { endOf, type Limit } from './limit.ts'

/** What became of one request. */
export interface Spent {
  readonly isAllowed: boolean
  /** How many more fit now. */
  readonly remaining: number
  /** Ms until the next one fits, where it is not allowed; until all that is counted now has left the window, else. */
  readonly wait: number
}

/** For how long the end of a window is taken for granted, in ms: the time of day may be put right meanwhile. */
const longestTrust = 60_000

export class KeyCount {
  readonly limit: Limit
  readonly #name: string
  #storeKey: string | null = null
  /** What the store counted, and when it was asked for that (monotonic ms). */
  #known = 0
  #knownAt = Number.NEGATIVE_INFINITY
  /** What was let in here: not told yet and since when, and told without an answer yet. */
  #untold = 0
  #untoldSince = 0
  #underWay = 0
  /** Monotonic ms until which nothing fits. */
  #fullUntil = Number.NEGATIVE_INFINITY
  /** When the window ends, in ms since the epoch and in monotonic ms, and when to look at that again. */
  #endsAt = Number.POSITIVE_INFINITY
  #overAt = Number.POSITIVE_INFINITY
  #looksAt = Number.POSITIVE_INFINITY
  /** What this process counts alone, until the store has answered. */
  #alone: SlidingWindow | null = null
  /** Whether the store hears of it at all. */
  isShared = false
  /** Whether a report to the store is under way, and whether a later one is seen to. */
  isReporting = false
  isListed = false
  /** Requests that wait for the next question to the store; null where none is under way. */
  line: ((spent: Spent) => void)[] | null = null

  /** Takes the name that it has among all. */
  constructor(limit: Limit, name: string) {
    this.limit = limit
    this.#name = name
    if (limit.span.kind !== 'sliding') this.#looksAt = Number.NEGATIVE_INFINITY
  }

  get untold(): number {
    return this.#untold
  }

  /** The key in the store: nothing of what callers sent can be read from it. */
  get storeKey(): string {
    return (this.#storeKey ??= hash('sha256', this.#name, 'base64url').slice(0, 22))
  }

  /** Starts over when the window has ended. */
  look(now: number, clock: Clock): void {
    if (now < this.#looksAt) return
    const time = clock.now()
    const endsAt = endOf(this.limit.span, time)
    this.#overAt = now + endsAt - time
    this.#looksAt = Math.min(this.#overAt, now + longestTrust)
    if (endsAt === this.#endsAt) return
    this.#endsAt = endsAt
    this.#known = this.#untold = this.#underWay = 0
    this.#knownAt = this.#fullUntil = Number.NEGATIVE_INFINITY
  }

  isFull(now: number): boolean {
    return now < this.#fullUntil
  }

  /** Whether one more fits for sure, whatever the other processes have let in since the store was asked. */
  isFar(now: number): boolean {
    const { ceiling, growth, untold, blind, most } = this.limit
    const unheard = this.#untold + this.#underWay
    const mayBe = this.#known + unheard + growth * (now - this.#knownAt)
    return (unheard < untold && mayBe <= ceiling) || (unheard < blind && 2 * this.#known <= most)
  }

  /** Whether the store should hear of it before it has to be asked. */
  isDue(now: number): boolean {
    if (this.isReporting) return false
    const { growth, untold, ceiling } = this.limit
    return 2 * this.#untold >= untold || 2 * growth * (now - this.#knownAt) > ceiling - this.#used
  }

  /** Ms since which something has waited to be told. */
  untoldFor(now: number): number {
    return now - this.#untoldSince
  }

  /** Lets one in. */
  admit(now: number): Spent {
    if (this.#untold === 0) this.#untoldSince = now
    this.#untold++
    this.#alone?.add(now, 1)
    return this.allow(now)
  }

  /** Takes back some that were let in. */
  takeBack(now: number, many: number): void {
    if (this.#untold === 0) this.#untoldSince = now
    this.#untold -= many
    this.#alone?.add(now, -many)
  }

  /** Returns what is told of one that is let in and counted already. */
  allow(now: number): Spent {
    const { most, span, period } = this.limit
    const wait = span.kind === 'sliding' ? period : this.#overAt - now
    return { isAllowed: true, remaining: Math.max(0, most - this.#used), wait }
  }

  refuse(now: number): Spent {
    return { isAllowed: false, remaining: 0, wait: Math.max(0, this.#fullUntil - now) }
  }

  /** Makes the question to the store; what it tells is under way then. */
  ask(now: number, wanted: number): CounterAsk {
    // What has left the window meanwhile is no longer told.
    if (this.#alone !== null) this.#untold = Math.min(this.#untold, this.#alone.count(now))
    const done = this.#untold
    this.#untold = 0
    this.#underWay += done
    return { key: this.storeKey, window: this.#window, limit: this.limit.most, done, wanted }
  }

  /** Takes the answer to what was asked at `askedAt`. */
  learn(ask: CounterAsk, { count, wait }: CounterAnswer, askedAt: number, now: number): void {
    if (!this.#isOfNow(ask)) return
    this.#underWay -= ask.done
    this.#known = count
    this.#knownAt = askedAt
    this.#alone = null
    if (wait > 0) this.#fullUntil = now + wait
  }

  /** Has what was told in vain wait again. */
  unask(ask: CounterAsk, now: number): void {
    if (!this.#isOfNow(ask)) return
    this.#underWay -= ask.done
    if (this.#untold === 0) this.#untoldSince = now
    this.#untold += ask.done
  }

  /** Decides with nothing but what this process knows. */
  spendAlone(now: number): Spent {
    if (this.limit.span.kind !== 'sliding')
      return this.#used < this.limit.most ? this.admit(now) : this.#refuseUntil(now, this.#overAt)
    const window = (this.#alone ??= this.#part(now, this.limit.span.period))
    const wait = window.wait(now, this.limit.most)
    if (wait > 0) return this.#refuseUntil(now, now + wait)
    const { isAllowed, wait: full } = this.admit(now)
    return { isAllowed, remaining: Math.max(0, this.limit.most - window.count(now)), wait: full }
  }

  get #window(): CounterWindow {
    const { span } = this.limit
    if (span.kind === 'sliding') return { kind: 'sliding', period: span.period }
    return { kind: 'fixed', until: this.#endsAt }
  }

  #isOfNow({ window }: CounterAsk): boolean {
    return window.kind === 'sliding' || window.until === this.#endsAt
  }

  get #used(): number {
    return this.#known + this.#untold + this.#underWay
  }

  #refuseUntil(now: number, until: number): Spent {
    this.#fullUntil = until
    return this.refuse(now)
  }

  /** Begins to count alone with what is known: when it happened is not, so it leaves evenly. */
  #part(now: number, period: number): SlidingWindow {
    const window = new SlidingWindow(period)
    const age = now - this.#knownAt
    if (age < period) window.spread(now, Math.ceil(this.#used * (1 - age / period)))
    return window
  }
}
