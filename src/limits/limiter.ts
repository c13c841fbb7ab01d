// Counts requests against limits, here and with all who share the store. The edge asks once a request and limit. While the store is away, or slow, this process
// counts alone with the same limits; no request waits for it.
import { LRUCache } from 'lru-cache'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import { LimitMetrics } from '../base/metrics.ts'
import type { Counters } from '../store/store.ts'
import { CountersWatch } from './counters-watch.ts'
import { KeyCount, type Spent } from './key-count.ts'
import type { Limit } from './limit.ts'

export interface LimiterOptions {
  readonly clock: Clock
  /** Counts for this process alone where there are none. */
  readonly counters?: Counters
  readonly metrics?: LimitMetrics
  readonly log?: Logger
}

/** The most keys that are remembered; of others the store has to be asked. */
const mostKeys = 50_000
/** The most requests that wait for the store at once. */
const mostWaiting = 1_000
/** How long one waits, in ms: a store that hangs has said so by then, and a busy machine is forgiven. */
const patience = 150
/** Ms between two looks at what still has to be told, and how long it may wait when nothing else tells it. */
const sweepPeriod = 1_000
const longestUntold = 5_000

export class Limiter {
  readonly #clock: Clock
  readonly #counters: Counters | null
  readonly #watch: CountersWatch | null
  readonly #metrics: LimitMetrics
  readonly #counts: LRUCache<string, KeyCount>
  /** Counts with something to tell. */
  #listed: KeyCount[] = []
  #sweeper: NodeJS.Timeout | undefined
  #waiting = 0

  constructor({ clock, counters, metrics = new LimitMetrics(), log }: LimiterOptions) {
    this.#clock = clock
    this.#counters = counters ?? null
    this.#watch = counters ? new CountersWatch(counters, log ?? null) : null
    this.#metrics = metrics
    this.#counts = new LRUCache({ max: mostKeys, dispose: count => this.#dismiss(count) })
  }

  /** Counts a request by a key, if it fits: at once while the key is far from the limit or over it, after one question to the store in between. */
  spend(limit: Limit, key: string): Spent | Promise<Spent> {
    const now = this.#clock.monotonic()
    const count = this.#countOf(limit, key)
    count.look(now, this.#clock)
    if (count.isFull(now)) return count.refuse(now)
    if (this.#watch === null) return count.spendAlone(now)
    if (this.#watch.isOut(now) || this.#waiting >= mostWaiting) return this.#spendAlone(count, now)
    if (!count.isFar(now)) return this.#ask(count)
    const spent = count.admit(now)
    if (count.isDue(now)) void this.#report(count)
    else this.#list(count)
    return spent
  }

  /** Takes back a request that was let in: another limit refused it. */
  giveBack(limit: Limit, key: string): void {
    const count = this.#counts.peek(nameOf(limit, key))
    if (count !== undefined) this.#takeBack(count)
  }

  /** Tells the store what it has not been told. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper)
    if (this.#watch === null || this.#watch.isOut(this.#clock.monotonic())) return
    await Promise.all(this.#listed.filter(({ untold }) => untold !== 0).map(count => this.#report(count)))
  }

  #countOf(limit: Limit, key: string): KeyCount {
    const name = nameOf(limit, key)
    const known = this.#counts.get(name)
    // Another limit may have its name since the configuration was changed.
    if (known !== undefined && known.limit.most === limit.most) return known
    const count = new KeyCount(limit, key)
    this.#counts.set(name, count)
    return count
  }

  #spendAlone(count: KeyCount, now: number): Spent {
    this.#watch!.lose(now)
    this.#metrics.fallbacks.inc()
    const spent = count.spendAlone(now)
    this.#list(count)
    return spent
  }

  async #ask(count: KeyCount): Promise<Spent> {
    this.#waiting++
    const call = this.#call(count, 1)
    const spent = await inTime(call, patience)
    this.#waiting--
    if (spent !== null) return spent
    const alone = this.#spendAlone(count, this.#clock.monotonic())
    // The store may have counted it after all.
    void call.then(late => late?.isAllowed && this.#takeBack(count))
    return alone
  }

  async #report(count: KeyCount): Promise<void> {
    count.isReporting = true
    await this.#call(count, 0)
    count.isReporting = false
  }

  /** Asks the store; gives null when it failed. */
  async #call(count: KeyCount, wanted: 0 | 1): Promise<Spent | null> {
    const askedAt = this.#clock.monotonic()
    const ask = count.ask(askedAt, wanted)
    this.#metrics.storeCalls.inc()
    try {
      const answer = await this.#counters!.spend(ask)
      this.#watch!.hear()
      return count.learn(ask, answer, askedAt, this.#clock.monotonic())
    } catch (error) {
      const now = this.#clock.monotonic()
      this.#watch!.fail(now, error)
      count.unask(ask, now)
      this.#list(count)
      return null
    }
  }

  #takeBack(count: KeyCount): void {
    count.takeBack(this.#clock.monotonic())
    // What the store has counted keeps others out; all that is taken back in this turn goes together.
    if (count.untold === -1 && this.#watch !== null) setImmediate(() => this.#report(count))
    else this.#list(count)
  }

  /** Sees to it that what a count has to tell is told some time. */
  #list(count: KeyCount): void {
    if (count.isListed || this.#watch === null) return
    count.isListed = true
    this.#listed.push(count)
    this.#sweeper ??= setInterval(() => this.#sweep(), sweepPeriod).unref()
  }

  #sweep(): void {
    const now = this.#clock.monotonic()
    if (this.#watch!.isOut(now)) return
    const listed = this.#listed
    this.#listed = []
    for (const count of listed) {
      count.isListed = false
      if (count.untold === 0) continue
      if (count.untoldFor(now) < Math.min(longestUntold, count.limit.period / 10)) this.#list(count)
      else void this.#report(count)
    }
  }

  /** Tells the store the last of a count that makes room for another. */
  #dismiss(count: KeyCount): void {
    if (this.#watch === null || count.untold === 0 || this.#watch.isOut(this.#clock.monotonic())) return
    void this.#report(count)
  }
}

/** Gives null when the answer isn't there in time; one that has come while this process itself was busy is. */
function inTime<T>(answer: Promise<T>, ms: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(resolve, null), ms)
    answer.then(resolve, reject)
    answer.finally(() => clearTimeout(timer))
  })
}

function nameOf(limit: Limit, key: string): string {
  return `${limit.name}\n${key}`
}
