// Counts requests against limits, here and with all who share the store. The edge asks once a request and limit. While the store is unreachable, or slow, this process
// counts alone with the same limits, and no request waits for it; so it does with more new keys than the store should keep.

import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../base/clock.ts'
import { inTime } from '../base/turns/in-time.ts'
import { LimitMetrics } from '../metrics/limit-metrics.ts'
import type { Logger } from '../log/log.ts'
import type { Counters } from '../store/store.ts'
import { CountersWatch } from './counters-watch.ts'
import { KeyCount, type Spent } from './key-count.ts'
import type { Limit } from './limit.ts'
import { NewKeys } from './new-keys.ts'
import { Reports } from './reports.ts'

interface LimiterOptions {
  readonly clock: Clock
  /** Counts for this process alone where there are none. */
  readonly counters?: Counters
  readonly metrics?: LimitMetrics
  readonly log?: Logger
  /** How long one waits for the store before nobody does, in ms. */
  readonly patience?: number
}

/** The most characters of a key that are remembered as they are. */
const longestKey = 200
/** The most keys that are remembered; of others the store has to be asked. */
const mostKeys = 50_000
/** The most keys for which requests wait at once. */
const mostAsking = 1_000
/** Ms: a busy machine is forgiven. */
const usualPatience = 150

export class Limiter {
  readonly #clock: Clock
  readonly #counters: Counters | null
  readonly #watch: CountersWatch | null
  readonly #metrics: LimitMetrics
  readonly #counts: LRUCache<string, KeyCount>
  readonly #newKeys = new NewKeys()
  readonly #reports: Reports | null
  readonly #patience: number
  #asking = 0

  constructor(options: LimiterOptions) {
    const { clock, counters, metrics = new LimitMetrics(), log, patience = usualPatience } = options
    this.#clock = clock
    this.#patience = patience
    this.#counters = counters ?? null
    this.#watch = counters ? new CountersWatch(counters, log ?? null) : null
    this.#reports = this.#watch && new Reports(count => this.#call(count, 0), this.#watch, clock)
    this.#metrics = metrics
    this.#counts = new LRUCache({ max: mostKeys, dispose: count => this.#dismiss(count) })
  }

  /** Counts a request by a key, if it fits: at once while the key is far from the limit or over it, after a question to the store in between. `now` are monotonic ms. */
  spend(limit: Limit, key: string, now = this.#clock.monotonic()): Spent | Promise<Spent> {
    const count = this.#countOf(limit, key)
    count.look(now, this.#clock)
    if (count.isFull(now)) return count.refuse(now)
    if (this.#watch === null) return count.spendAlone(now)
    if (!count.isShared && !(count.isShared = this.#newKeys.take(limit, now)))
      return this.#spendUnshared(count, now)
    if (this.#watch.isOut || this.#asking >= mostAsking) return this.#spendAlone(count, now)
    if (!count.isFar(now)) return this.#ask(count)
    const spent = count.admit(now)
    if (count.isDue(now)) void this.#reports!.send(count)
    else this.#reports!.list(count)
    return spent
  }

  /** Takes back a request that was let in: another limit refused it. */
  giveBack(limit: Limit, key: string): void {
    const count = this.#counts.peek(keyName(limit, key))
    if (count !== undefined) this.#takeBack(count, 1)
  }

  /** Reports to the store what it has not been told. */
  async close(): Promise<void> {
    await this.#reports?.close()
  }

  #countOf(limit: Limit, key: string): KeyCount {
    const name = keyName(limit, key)
    const known = this.#counts.get(name)
    // Another limit may have its name since the configuration was changed.
    if (known !== undefined && known.limit.most === limit.most) return known
    const count = new KeyCount(limit, name)
    this.#counts.set(name, count)
    return count
  }

  #spendUnshared(count: KeyCount, now: number): Spent {
    this.#watch!.overflow(now, count.limit.name)
    this.#metrics.fallbacks.inc()
    return count.spendAlone(now)
  }

  #spendAlone(count: KeyCount, now: number): Spent {
    this.#watch!.lose(now)
    this.#metrics.fallbacks.inc()
    const spent = count.spendAlone(now)
    this.#reports!.list(count)
    return spent
  }

  /** Has a request wait for an answer of the store: those that come while one is under way go into the next question together. */
  #ask(count: KeyCount): Promise<Spent> {
    const { promise, resolve } = Promise.withResolvers<Spent>()
    if (count.line !== null) count.line.push(resolve)
    else {
      count.line = [resolve]
      void this.#serve(count)
    }
    return promise
  }

  async #serve(count: KeyCount): Promise<void> {
    this.#asking++
    while (count.line!.length > 0) {
      const waiting = count.line!
      count.line = []
      await this.#settle(count, waiting)
    }
    count.line = null
    this.#asking--
  }

  async #settle(count: KeyCount, waiting: NonNullable<KeyCount['line']>): Promise<void> {
    const granted = await this.#grantedOf(count, waiting.length)
    const now = this.#clock.monotonic()
    for (const [i, resolve] of waiting.entries())
      if (granted === null) resolve(this.#spendAlone(count, now))
      else resolve(i < granted ? count.allow(now) : count.refuse(now))
  }

  /** Returns how many the store grants; null where that can't be waited for. */
  async #grantedOf(count: KeyCount, wanted: number): Promise<number | null> {
    // The answer before may have said all, or may not have come.
    if (count.isFull(this.#clock.monotonic())) return 0
    if (this.#watch!.isOut) return null
    const call = this.#call(count, wanted)
    const granted = await inTime(call, this.#patience, () => null)
    if (granted !== null) return granted
    if (!this.#watch!.isOut) {
      this.#watch!.pause()
      // Mostly it was held up only once.
      void this.#reports!.probe(count)
    }
    // The store may have counted some after all.
    void call.then(late => late && this.#takeBack(count, late))
    return null
  }

  /** Asks the store; gives how many it granted, or null when it failed. */
  async #call(count: KeyCount, wanted: number): Promise<number | null> {
    const askedAt = this.#clock.monotonic()
    const ask = count.ask(askedAt, wanted)
    this.#metrics.storeCalls.inc()
    try {
      const answer = await this.#counters!.spend(ask)
      const now = this.#clock.monotonic()
      if (now - askedAt <= this.#patience) this.#watch!.hear()
      count.learn(ask, answer, askedAt, now)
      return answer.granted
    } catch (error) {
      this.#watch!.fail(error)
      count.unask(ask, this.#clock.monotonic())
      this.#reports!.list(count)
      return null
    }
  }

  #takeBack(count: KeyCount, many: number): void {
    count.takeBack(this.#clock.monotonic(), many)
    if (count.isShared) this.#reports!.sendSoon(count)
  }

  /** Reports to the store the last of a count that makes room for another. */
  #dismiss(count: KeyCount): void {
    if (count.isShared && !this.#watch!.isOut) void this.#reports!.send(count)
  }
}

/** Returns a name that no key of another limit has. It is a text of its own, and short: a key may be cut from a whole head, and as long as one. */
function keyName(limit: Limit, key: string): string {
  return `${limit.name}\n${key.length > longestKey ? hash('sha256', key, 'base64url') : key}`
}
