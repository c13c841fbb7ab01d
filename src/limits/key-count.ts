// The count of one key: the store's last reply, and the requests admitted since.

import { hash } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { SlidingWindow } from '../base/sliding-window.ts'
import type { CounterReply, CounterAsk, CounterWindow } from '../store/contract/store.ts'
import { endOf, type Limit } from './limit.ts'

export interface Spent {
  readonly isAllowed: boolean
  readonly remaining: number
  /** Ms until the next one fits, or, if this one does, until everything counted has left the window. */
  readonly wait: number
}

/** Ms for which the end of a window is trusted: the system clock may be adjusted. */
const maxTrust = 60_000

export class KeyCount {
  readonly limit: Limit
  readonly #name: string
  #storeKey: string | null = null
  /** The count in the store, and when it was requested (monotonic ms). */
  #storeCount = 0
  #knownAt = Number.NEGATIVE_INFINITY
  /** Requests admitted here: those not reported yet, since when, and those reported but not confirmed yet. */
  #unreported = 0
  #unreportedSince = 0
  #underWay = 0
  /** Monotonic ms until which nothing fits. */
  #fullUntil = Number.NEGATIVE_INFINITY
  /** When the window ends, in ms since the epoch and in monotonic ms, and when to check that again. */
  #endsAt = Number.POSITIVE_INFINITY
  #overAt = Number.POSITIVE_INFINITY
  #checkAt = Number.POSITIVE_INFINITY
  /** The local count, until the store replies again. */
  #alone: SlidingWindow | null = null
  isShared = false
  isReporting = false
  isListed = false
  /** Requests that wait for the next query to the store; null if no query is in progress. */
  line: ((spent: Spent) => void)[] | null = null

  constructor(limit: Limit, name: string) {
    this.limit = limit
    this.#name = name
    if (limit.span.kind !== 'sliding') this.#checkAt = Number.NEGATIVE_INFINITY
  }

  get unreported(): number {
    return this.#unreported
  }

  /** Without the name of the limit; a digest if it is long. */
  get key(): string {
    return this.#name.slice(this.limit.name.length + 1)
  }

  estimate(now: number): number {
    const { span } = this.limit
    if (span.kind !== 'sliding') return now < this.#overAt ? this.#used : 0
    if (this.#alone !== null) return this.#alone.count(now)
    // The times of those requests are unknown, so they expire evenly.
    const age = Math.min(1, (now - this.#knownAt) / span.period)
    return this.#storeCount * (1 - age) + this.#unreported + this.#underWay
  }

  /** A digest, which reveals nothing that callers sent. */
  get storeKey(): string {
    return (this.#storeKey ??= hash('sha256', this.#name, 'base64url').slice(0, 22))
  }

  refresh(now: number, clock: Clock): void {
    if (now < this.#checkAt) return
    const time = clock.now()
    const endsAt = endOf(this.limit.span, time)
    this.#overAt = now + endsAt - time
    this.#checkAt = Math.min(this.#overAt, now + maxTrust)
    if (endsAt === this.#endsAt) return
    this.#endsAt = endsAt
    this.#storeCount = this.#unreported = this.#underWay = 0
    this.#knownAt = this.#fullUntil = Number.NEGATIVE_INFINITY
  }

  isFull(now: number): boolean {
    return now < this.#fullUntil
  }

  /** Whether one more certainly fits, whatever other processes have admitted since the last reply. */
  isFar(now: number): boolean {
    const { ceiling, growth, unreported, blind, max } = this.limit
    const unconfirmed = this.#unreported + this.#underWay
    const mayBe = this.#storeCount + unconfirmed + growth * (now - this.#knownAt)
    return (
      (unconfirmed < unreported && mayBe <= ceiling) || (unconfirmed < blind && 2 * this.#storeCount <= max)
    )
  }

  isDue(now: number): boolean {
    if (this.isReporting) return false
    const { growth, unreported, ceiling } = this.limit
    return 2 * this.#unreported >= unreported || 2 * growth * (now - this.#knownAt) > ceiling - this.#used
  }

  unreportedFor(now: number): number {
    return now - this.#unreportedSince
  }

  admit(now: number): Spent {
    if (this.#unreported === 0) this.#unreportedSince = now
    this.#unreported++
    this.#alone?.add(now, 1)
    return this.allow(now)
  }

  takeBack(now: number, many: number): void {
    if (this.#unreported === 0) this.#unreportedSince = now
    this.#fullUntil = Number.NEGATIVE_INFINITY
    this.#unreported -= many
    this.#alone?.add(now, -many)
  }

  allow(now: number): Spent {
    const { max, span, period } = this.limit
    const wait = span.kind === 'sliding' ? period : this.#overAt - now
    return { isAllowed: true, remaining: Math.max(0, max - this.#used), wait }
  }

  refuse(now: number): Spent {
    return { isAllowed: false, remaining: 0, wait: Math.max(0, this.#fullUntil - now) }
  }

  get emptyQuery(): CounterAsk {
    return { key: this.storeKey, window: this.#window, limit: this.limit.max, done: 0, wanted: 0 }
  }

  /** Builds the query to the store, whose report is then in progress. */
  buildQuery(now: number, wanted: number): CounterAsk {
    // Requests that have left the window in the meantime are no longer reported.
    if (this.#alone !== null) this.#unreported = Math.min(this.#unreported, this.#alone.count(now))
    const done = this.#unreported
    this.#unreported = 0
    this.#underWay += done
    return { key: this.storeKey, window: this.#window, limit: this.limit.max, done, wanted }
  }

  learn(query: CounterAsk, { count, wait }: CounterReply, queriedAt: number, now: number): void {
    if (!this.#isOfNow(query)) return
    this.#underWay -= query.done
    this.#storeCount = count
    this.#knownAt = queriedAt
    this.#alone = null
    // Requests taken back in the meantime make room that the store does not know of.
    if (wait > 0 && this.#used >= this.limit.max) this.#fullUntil = now + wait
  }

  requeue(query: CounterAsk, now: number): void {
    if (!this.#isOfNow(query)) return
    this.#underWay -= query.done
    if (this.#unreported === 0) this.#unreportedSince = now
    this.#unreported += query.done
  }

  spendAlone(now: number): Spent {
    const { span } = this.limit
    if (span.kind === 'sliding') this.#alone ??= this.#part(now, span.period)
    const spent = this.peekAlone(now)
    if (!spent.isAllowed) this.#fullUntil = now + spent.wait
    else this.admit(now)
    return spent
  }

  peekAlone(now: number): Spent {
    const { max, span } = this.limit
    if (span.kind !== 'sliding') return this.#outcome(this.#used, this.#overAt - now, this.#overAt - now)
    const window = this.#alone ?? this.#part(now, span.period)
    return this.#outcome(window.count(now), window.wait(now, max), span.period)
  }

  /** Returns what a request would get by a reply of the store and what it does not include. */
  peek(now: number, reply: CounterReply | null): Spent {
    const { span, period } = this.limit
    const used = (reply === null ? this.#storeCount : reply.count) + this.#unreported
    const full = span.kind === 'sliding' ? period : this.#overAt - now
    return this.#outcome(used, reply?.wait ?? full, full)
  }

  /** `used` excludes this request; `wait` applies if it does not fit. */
  #outcome(used: number, wait: number, full: number): Spent {
    const { max } = this.limit
    if (used < max) return { isAllowed: true, remaining: max - used - 1, wait: full }
    return { isAllowed: false, remaining: 0, wait: Math.max(0, wait) }
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
    return this.#storeCount + this.#unreported + this.#underWay
  }

  /** The times of the known requests are unknown, so they expire evenly. */
  #part(now: number, period: number): SlidingWindow {
    const window = new SlidingWindow(period)
    const own = (this.#unreported + this.#underWay) * partLeft(now - this.#unreportedSince, period)
    const used = this.#storeCount * partLeft(now - this.#knownAt, period) + own
    if (used > 0) window.spread(now, Math.ceil(used))
    return window
  }
}

function partLeft(age: number, period: number): number {
  return Math.max(0, 1 - age / period)
}
