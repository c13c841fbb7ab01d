// Counts requests against limits. No request waits for a slow store: this process then counts alone.

import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../base/clock.ts'
import { inTime } from '../base/turns/in-time.ts'
import { LimitMetrics } from '../metrics/counters/limit-metrics.ts'
import type { Logger } from '../log/log.ts'
import type { Counters } from '../store/contract/store.ts'
import { CountersWatch } from './counters-watch.ts'
import { KeyCount, type Spent } from './key-count.ts'
import type { Limit } from './limit.ts'
import { type NearKey, nearestOf } from './near-keys.ts'
import { NewKeys } from './new-keys.ts'
import { Reports } from './reports.ts'

export type Counting = Pick<Limiter, 'spend' | 'giveBack'>

interface LimiterOptions {
  readonly clock: Clock
  readonly counters?: Counters
  readonly metrics?: LimitMetrics
  readonly log?: Logger
  /** Ms that a request waits for the store before the limiter counts locally. */
  readonly timeout?: number
}

const maxKeyLength = 200
/** Max keys in memory; for others the store has to be queried. */
const maxKeys = 50_000
const maxWaiting = 1_000
/** Ms for which the keys nearest to limits are cached: finding them takes some ms. */
const nearestPeriod = 1_000
/** In ms; lenient towards a busy machine. */
const defaultTimeout = 150

export class Limiter {
  readonly #clock: Clock
  readonly #counters: Counters | null
  readonly #watch: CountersWatch | null
  readonly #metrics: LimitMetrics
  /** By their size: with `max`, it allocates all places at once, which takes 3 ms and a MiB. */
  readonly #counts = new LRUCache<string, KeyCount>({
    maxSize: maxKeys,
    sizeCalculation: () => 1,
    dispose: count => this.#dismiss(count),
  })
  /** Usually also the next key. The cache does not evict its most recent entry. */
  #last: { readonly limit: Limit; readonly key: string; readonly count: KeyCount } | null = null
  readonly #newKeys = new NewKeys()
  readonly #reports: Reports | null
  readonly #timeout: number
  #waiting = 0
  #nearest: { readonly at: number; readonly keys: Promise<readonly NearKey[]> } | null = null

  constructor(options: LimiterOptions) {
    const { clock, counters, metrics = new LimitMetrics(), log, timeout = defaultTimeout } = options
    this.#clock = clock
    this.#timeout = timeout
    this.#counters = counters ?? null
    this.#watch = counters ? new CountersWatch(counters, log ?? null) : null
    this.#reports = this.#watch && new Reports(count => this.#call(count, 0), this.#watch, clock)
    this.#metrics = metrics
  }

  /** At once far from the limit or over it, else after a query. `now` is monotonic. */
  spend(limit: Limit, key: string, now = this.#clock.monotonic()): Spent | Promise<Spent> {
    const count = this.#countOf(limit, key)
    count.refresh(now, this.#clock)
    if (count.isFull(now)) return count.refuse(now)
    if (this.#watch === null) return count.spendAlone(now)
    if (!count.isShared && !(count.isShared = this.#newKeys.take(limit, now)))
      return this.#spendUnshared(count, now)
    if (this.#watch.isOut || this.#waiting >= maxWaiting) return this.#spendAlone(count, now)
    if (!count.isFar(now)) return this.#enqueue(count)
    const spent = count.admit(now)
    if (count.isDue(now)) void this.#reports!.send(count)
    else this.#reports!.list(count)
    return spent
  }

  /** Returns what `spend` probably would, without counting. Never rejects. */
  peek(limit: Limit, key: string, now = this.#clock.monotonic()): Spent | Promise<Spent> {
    const name = keyName(limit, key)
    const existing = this.#counts.peek(name)
    const count = existing?.limit.max === limit.max ? existing : new KeyCount(limit, name)
    count.refresh(now, this.#clock)
    if (count.isFull(now)) return count.refuse(now)
    const isAlone = this.#watch === null || this.#watch.isOut || (existing !== undefined && !count.isShared)
    return isAlone ? count.peekAlone(now) : this.#peekInStore(count, now)
  }

  async #peekInStore(count: KeyCount, now: number): Promise<Spent> {
    const reply = this.#counters!.spend(count.emptyQuery).catch(() => null)
    return count.peek(now, await inTime(reply, this.#timeout, () => null))
  }

  /** At most a second old. */
  nearest(): Promise<readonly NearKey[]> {
    const now = this.#clock.monotonic()
    if (this.#nearest === null || now - this.#nearest.at >= nearestPeriod)
      this.#nearest = { at: now, keys: nearestOf([...this.#counts.values()], now) }
    return this.#nearest.keys
  }

  giveBack(limit: Limit, key: string): void {
    const count = this.#counts.peek(keyName(limit, key))
    if (count !== undefined) this.#takeBack(count, 1)
  }

  async close(): Promise<void> {
    await this.#reports?.close()
  }

  #countOf(limit: Limit, key: string): KeyCount {
    if (this.#last?.limit !== limit || this.#last.key !== key)
      this.#last = { limit, key, count: this.#findCount(limit, key) }
    return this.#last.count
  }

  #findCount(limit: Limit, key: string): KeyCount {
    const name = keyName(limit, key)
    const existing = this.#counts.get(name)
    // After a reload, the name may belong to another limit.
    if (existing !== undefined && existing.limit.max === limit.max) return existing
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

  /** Requests that arrive during a query share the next one. */
  #enqueue(count: KeyCount): Promise<Spent> {
    const { promise, resolve } = Promise.withResolvers<Spent>()
    if (count.line !== null) count.line.push(resolve)
    else {
      count.line = [resolve]
      void this.#serve(count)
    }
    return promise
  }

  async #serve(count: KeyCount): Promise<void> {
    this.#waiting++
    while (count.line!.length > 0) {
      const waiting = count.line!
      count.line = []
      await this.#settle(count, waiting)
    }
    count.line = null
    this.#waiting--
  }

  async #settle(count: KeyCount, waiting: NonNullable<KeyCount['line']>): Promise<void> {
    const granted = await this.#grantedOf(count, waiting.length)
    const now = this.#clock.monotonic()
    for (const [i, resolve] of waiting.entries())
      if (granted === null) resolve(this.#spendAlone(count, now))
      else resolve(i < granted ? count.allow(now) : count.refuse(now))
  }

  /** Null if requests cannot wait. */
  async #grantedOf(count: KeyCount, wanted: number): Promise<number | null> {
    // The previous reply may have decided it, or may not have arrived.
    if (count.isFull(this.#clock.monotonic())) return 0
    if (this.#watch!.isOut) return null
    const call = this.#call(count, wanted)
    const granted = await inTime(call, this.#timeout, () => null)
    if (granted !== null) return granted
    if (!this.#watch!.isOut) {
      this.#watch!.pause()
      // Usually the store was slow only once.
      void this.#reports!.probe(count)
    }
    // The store may have counted some of them after all.
    void call.then(late => late && this.#takeBack(count, late))
    return null
  }

  /** Returns the number granted, or null if the store failed. */
  async #call(count: KeyCount, wanted: number): Promise<number | null> {
    const queriedAt = this.#clock.monotonic()
    const query = count.buildQuery(queriedAt, wanted)
    this.#metrics.storeCalls.inc()
    try {
      const reply = await this.#counters!.spend(query)
      const now = this.#clock.monotonic()
      if (now - queriedAt <= this.#timeout) this.#watch!.hear()
      count.learn(query, reply, queriedAt, now)
      return reply.granted
    } catch (error) {
      this.#watch!.fail(error)
      count.requeue(query, this.#clock.monotonic())
      this.#reports!.list(count)
      return null
    }
  }

  #takeBack(count: KeyCount, many: number): void {
    count.takeBack(this.#clock.monotonic(), many)
    if (count.isShared) this.#reports!.sendSoon(count)
  }

  #dismiss(count: KeyCount): void {
    if (count.isShared && !this.#watch!.isOut) void this.#reports!.send(count)
  }
}

/** Returns a name that is unique across limits. It is a copy: a slice would keep its request head alive. */
function keyName(limit: Limit, key: string): string {
  return `${limit.name}\n${key.length > maxKeyLength ? hash('sha256', key, 'base64url') : key}`
}
