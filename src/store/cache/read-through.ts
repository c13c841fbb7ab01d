// Caches what the store returned, so that most requests need no query.

import { LRUCache } from 'lru-cache'
import type { Lent } from './cache-handover.ts'
import { KeySketch, RecentMisses } from './recent-misses.ts'
import { type Change, type Changes, type MaybeAtOnce, StoreUnreachable } from '../contract/store.ts'

export interface ReadThroughOptions<T> {
  readonly load: (key: string) => MaybeAtOnce<T | null>
  readonly changes: Changes
  /** The kinds of records that values are built from; changes of other kinds leave the cache as it is. */
  readonly kinds: readonly RecordChange['kind'][]
  /** Whether a change of such a record may affect a value. */
  readonly concerns: (change: RecordChange, value: T) => boolean
  /**
   * Returns the only key or group that a change can affect, if it removes it altogether; null if the change
   * may affect any. Without this function, each change may affect any.
   */
  readonly endedBy?: ((change: RecordChange) => string | null) | undefined
  readonly groupOf?: ((value: T) => string | null) | undefined
  /** The maximum number of cached values, at most 65,535. Misses are bounded separately, to 8,192. */
  readonly size: number
  /** How long a miss is cached, in ms. */
  readonly missLife: number
  /** Ms for which a value stays valid while the store is unreachable, since it was last current. */
  readonly grace: number
  /** Called for each key for which the store has a value, unless `recall` looked it up. */
  readonly onLoad?: ((key: string) => void) | undefined
  /** Asks other processes for what they have cached while the store is unreachable; never rejects. */
  readonly borrow?: ((key: string) => Promise<Lent<T> | null>) | undefined
  /** Monotonic ms, as `Changes.knownUntil` counts them. */
  readonly now?: () => number
}

export type RecordChange = Exclude<Change, { kind: 'everything' }>

interface Remembered<T> {
  readonly value: T
  readonly askedAt: number
  readonly isLent: boolean
}

/** The maximum age of a cached value, in ms: how long a revoked token can still work. */
const trust = 5_000
/** How long stale values are returned before another query, in ms. */
const pause = 1_000
/** The maximum number of concurrent queries, so that a flood of random keys does not reach the store. */
const maxLoads = 1_000
/** The maximum number of queries per recall. */
const maxRecalls = 3
/** The maximum number of changes kept while lookups run. */
const maxRecentChanges = 10_000

export class ReadThrough<T extends object> {
  readonly #options: ReadThroughOptions<T>
  readonly #now: () => number
  readonly #values: LRUCache<string, Remembered<T>>
  /** The keys of the values of each group. */
  readonly #groups = new Map<string, Set<string>>()
  readonly #cached = new KeySketch(1 << 14)
  /** When each miss expires. */
  readonly #misses = new RecentMisses(1 << 13)
  readonly #loads = new Map<string, Promise<T | null>>()
  #loading = 0
  /** The latest changes reported while lookups ran, and the number of changes before them. */
  #recentChanges: Change[] = []
  #unkept = 0
  /** Changes up to this time were reported before this cache subscribed, so that it has not seen them. */
  readonly #unheardUntil: number
  #changedAt = Number.NEGATIVE_INFINITY
  /** When to check whether the store is still unreachable; null while it responds. */
  #triesAt: number | null = null

  constructor(options: ReadThroughOptions<T>) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    const dispose = ({ value }: Remembered<T>, key: string) => {
      this.#cached.remove(key)
      this.#leaveGroup(key, value)
    }
    // With `max`, it would allocate all places at once.
    this.#values = new LRUCache({ maxSize: options.size, sizeCalculation: () => 1, dispose })
    options.changes.follow(change => this.#forget(change))
    this.#unheardUntil = options.changes.knownUntil
  }

  get(key: string): MaybeAtOnce<T | null> {
    const value = this.cached(key)
    return value === undefined ? this.query(key) : value
  }

  /** Returns the cached value, or null for a known miss; undefined if the store has to be queried. */
  cached(key: string): T | null | undefined {
    const now = this.#now()
    const entry = this.#cached.mayHave(key) ? this.#values.get(key) : undefined
    if (entry) return this.#holds(entry, now) ? entry.value : undefined
    return now < this.#misses.until(key) ? null : undefined
  }

  /** Queries the store, once for all callers that wait for the same key; rejects with `StoreUnreachable`. */
  query(key: string): MaybeAtOnce<T | null> {
    const load = this.#loads.size === 0 ? undefined : this.#loads.get(key)
    return load ?? this.#ask(key, this.#now())
  }

  /**
   * Loads a key that another process has found in the store, unless it is cached; rejects with
   * `StoreUnreachable`.
   */
  async recall(key: string): Promise<void> {
    // A result that a change overtakes is not cached, even if the change may concern something else.
    for (let attempt = 0; attempt < maxRecalls && this.#values.peek(key)?.isLent !== false; attempt++) {
      const value = await (this.#loads.get(key) ?? this.#ask(key, this.#now(), true))
      if (value === null || this.#triesAt !== null) return
    }
  }

  /** Returns a cached value for another process; null if it is too old even for this one. */
  lend(key: string): Lent<T> | null {
    const entry = this.#values.peek(key)
    if (entry === undefined) return null
    const age = Math.max(0, this.#ageOf(entry, this.#now()))
    return age > this.#options.grace ? null : { value: entry.value, age }
  }

  /** Yields all loans by key, the most recently used last. */
  *loans(): Iterable<readonly [key: string, lent: Lent<T>]> {
    for (const key of this.#values.rkeys()) {
      const loan = this.lend(key)
      if (loan !== null) yield [key, loan]
    }
  }

  /** Caches a loan with its age at `at` (monotonic ms); false if it may have changed since or is too old. */
  adopt(key: string, { value, age }: Lent<T>, at = this.#now()): boolean {
    const { grace, missLife } = this.#options
    const knownAt = at - age
    const missedAt = this.#misses.until(key) - missLife
    // Any change since may concern it, and a record removed before then may never be reported again.
    if (knownAt <= Math.max(this.#changedAt, missedAt) || knownAt < this.#unheardUntil) return false
    if (this.#now() - knownAt > grace) return false
    if ((this.#values.peek(key)?.askedAt ?? Number.NEGATIVE_INFINITY) < knownAt)
      this.#keep(key, { value, askedAt: knownAt, isLent: true })
    return true
  }

  #holds(entry: Remembered<T>, now: number): boolean {
    if (now - this.#options.changes.knownUntil <= trust) return true
    const age = this.#ageOf(entry, now)
    if (age <= trust) return true
    if (this.#triesAt === null || age > this.#options.grace) return false
    if (now < this.#triesAt) return true
    this.#triesAt = now + pause
    return false
  }

  #ageOf({ askedAt }: Remembered<T>, now: number): number {
    return now - Math.max(askedAt, this.#options.changes.knownUntil)
  }

  #ask(key: string, now: number, isRecalled = false): MaybeAtOnce<T | null> {
    if (this.#loading >= maxLoads) return Promise.reject(new StoreUnreachable('too many lookups at once'))
    const changesBefore = this.#unkept + this.#recentChanges.length
    const answer = this.#options.load(key)
    if (!(answer instanceof Promise)) return this.#take(key, answer, now, isRecalled)
    const load = this.#load(key, answer, changesBefore, now, isRecalled)
    this.#loads.set(key, load)
    const done = () => {
      if (this.#loads.get(key) === load) this.#loads.delete(key)
    }
    load.then(done, done)
    return load
  }

  async #load(
    key: string,
    answer: Promise<T | null>,
    changesBefore: number,
    askedAt: number,
    isRecalled: boolean,
  ): Promise<T | null> {
    this.#loading++
    try {
      const value = await answer
      // A change during the query: good enough for earlier callers, but not for later ones.
      return this.#take(key, value, this.#isOvertaken(key, value, changesBefore) ? null : askedAt, isRecalled)
    } catch (error) {
      return this.#oldValue(key, error) ?? (await this.#borrowed(key, error))
    } finally {
      if (--this.#loading === 0) this.#dropHeard()
    }
  }

  /** Caches the result of a query; `askedAt` is null if it must not be cached. */
  #take(key: string, value: T | null, askedAt: number | null, isRecalled: boolean): T | null {
    this.#triesAt = null
    if (askedAt !== null) this.#remember(key, value, askedAt)
    if (value !== null && !isRecalled) this.#options.onLoad?.(key)
    return value
  }

  /** Whether a change reported since the first `after` changes may concern the result. */
  #isOvertaken(key: string, value: T | null, after: number): boolean {
    if (after < this.#unkept) return true
    for (let i = after - this.#unkept; i < this.#recentChanges.length; i++) {
      const change = this.#recentChanges[i]!
      const ended = this.#endedBy(change)
      if (ended !== null ? this.#isNamed(ended, key, value) : this.#mayBeOf(value, change)) return true
    }
    return false
  }

  #isNamed(name: string, key: string, value: T | null): boolean {
    return name === key || (value !== null && name === this.#groupOf(value))
  }

  #groupOf(value: T): string | null {
    return this.#options.groupOf?.(value) ?? null
  }

  #keep(key: string, entry: Remembered<T>): void {
    this.#cached.add(key)
    this.#values.set(key, entry)
    const group = this.#groupOf(entry.value)
    if (group === null) return
    const keys = this.#groups.get(group)
    if (keys === undefined) this.#groups.set(group, new Set([key]))
    else keys.add(key)
  }

  #leaveGroup(key: string, value: T): void {
    const group = this.#groupOf(value)
    const keys = group === null ? undefined : this.#groups.get(group)
    if (keys?.delete(key) && keys.size === 0) this.#groups.delete(group!)
  }

  #mayBeOf(value: T | null, change: Change): boolean {
    return value === null || change.kind === 'everything' || this.#options.concerns(change, value)
  }

  #endedBy(change: Change): string | null {
    return change.kind === 'everything' ? null : (this.#options.endedBy?.(change) ?? null)
  }

  #remember(key: string, value: T | null, askedAt: number): void {
    if (value) return this.#keep(key, { value, askedAt, isLent: false })
    if (this.#cached.mayHave(key)) this.#values.delete(key)
    this.#misses.note(key, askedAt + this.#options.missLife)
  }

  #oldValue(key: string, error: unknown): T | null {
    if (!(error instanceof StoreUnreachable)) throw error
    const now = this.#now()
    this.#triesAt = now + pause
    const old = this.#values.peek(key)
    return old && this.#ageOf(old, now) <= this.#options.grace ? old.value : null
  }

  async #borrowed(key: string, error: unknown): Promise<T> {
    const askedAt = this.#now()
    const loan = await this.#options.borrow?.(key)
    if (!loan || !this.adopt(key, loan, askedAt)) throw error
    return loan.value
  }

  #forget(change: Change): void {
    if (change.kind !== 'everything' && !this.#options.kinds.includes(change.kind)) return
    this.#changedAt = this.#now()
    if (this.#recentChanges.length === maxRecentChanges) this.#dropHeard()
    if (this.#loading > 0) this.#recentChanges.push(change)
    const ended = this.#endedBy(change)
    if (ended === null) return this.#forgetWhat(change)
    // The group of a pending load is unknown until it ends.
    if (this.#options.groupOf === undefined) this.#loads.delete(ended)
    else this.#loads.clear()
    this.#values.delete(ended)
    for (const key of [...(this.#groups.get(ended) ?? [])]) this.#values.delete(key)
  }

  #forgetWhat(change: Change): void {
    this.#loads.clear()
    this.#misses.clear()
    if (change.kind === 'everything') return this.#values.clear()
    // Changes are rare: checking each value is cheaper than maintaining an index.
    for (const [key, { value }] of this.#values.entries())
      if (this.#options.concerns(change, value)) this.#values.delete(key)
  }

  #dropHeard(): void {
    this.#unkept += this.#recentChanges.length
    this.#recentChanges = []
  }
}
