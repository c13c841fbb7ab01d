// Caches what the store returned, so that most requests need no query.

import { LRUCache } from 'lru-cache'
import type { Lent } from './cache-handover.ts'
import { KeySketch, RecentMisses } from './recent-misses.ts'
import { type Change, type Changes, type MaybeAtOnce, StoreUnreachable } from '../contract/store.ts'

export interface ReadThroughOptions<T> {
  readonly load: (key: string) => MaybeAtOnce<T | null>
  readonly changes: Changes
  /** What the values are made of: changes of other records leave the cache as it is. */
  readonly kinds: readonly RecordChange['kind'][]
  /** Whether a value may differ after a change of a record of such a kind. */
  readonly concerns: (change: RecordChange, value: T) => boolean
  /** Returns the only key or group that a change can be about, if nothing is left of it; null where it may be any. Without it, each may be about any. */
  readonly endedBy?: ((change: RecordChange) => string | null) | undefined
  /** Returns the group that a value is of, which is no key; null for none. */
  readonly groupOf?: ((value: T) => string | null) | undefined
  /** The most values that are cached, 65,535 at most; misses are bounded separately, to 8,192. */
  readonly size: number
  /** How long a miss is cached, in ms. */
  readonly missLife: number
  /** How long a value stays valid while the store is unreachable, in ms since it was last known to be current. */
  readonly grace: number
  /** Called for each key for which the store has a value, unless `recall` looked it up. */
  readonly found?: ((key: string) => void) | undefined
  /** Asks other processes for what they have cached while the store is unreachable; never rejects. */
  readonly borrow?: ((key: string) => Promise<Lent<T> | null>) | undefined
  /** Monotonic ms, as `Changes.knownUntil` counts them. */
  readonly now?: () => number
}

export type RecordChange = Exclude<Change, { kind: 'everything' }>

interface Remembered<T> {
  readonly value: T
  /** When the store was queried for it. */
  readonly askedAt: number
  /** Whether another process queried. */
  readonly isLent: boolean
}

/** How old a cached value may be before the store is read again, in ms: the longest that a revoked token can work. */
const trust = 5_000
/** How long old values are returned before a query checks whether the store is still unreachable, in ms. */
const pause = 1_000
/** The most queries that wait for the store at once; more are refused, so that a flood of random keys is not passed on to it. */
const mostLoads = 1_000
/** How many times one recall queries. */
const mostRecalls = 3
/** The most changes that are kept while lookups run. */
const mostHeard = 10_000

export class ReadThrough<T extends object> {
  readonly #options: ReadThroughOptions<T>
  readonly #now: () => number
  readonly #values: LRUCache<string, Remembered<T>>
  /** The keys of the values of each group. */
  readonly #groups = new Map<string, Set<string>>()
  readonly #cached = new KeySketch(1 << 14)
  /** Until when each miss is valid. */
  readonly #misses = new RecentMisses(1 << 13)
  readonly #loads = new Map<string, Promise<T | null>>()
  #loading = 0
  /** The last changes that were reported while lookups ran, and how many were reported before the first of them. */
  #heard: Change[] = []
  #unkept = 0
  /** Up to when changes were reported before it subscribed, which it has not received. */
  readonly #unheardUntil: number
  /** When the last change was reported. */
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
    this.#values = new LRUCache({ max: options.size, dispose })
    options.changes.follow(change => this.#forget(change))
    this.#unheardUntil = options.changes.knownUntil
  }

  /** Returns at once what is cached, or else does as `query`. */
  get(key: string): MaybeAtOnce<T | null> {
    const held = this.held(key)
    return held === undefined ? this.query(key) : held
  }

  /** Returns what is cached, or null for what is known to be missing; undefined where the store has to be asked. */
  held(key: string): T | null | undefined {
    const now = this.#now()
    const remembered = this.#cached.mayHave(key) ? this.#values.get(key) : undefined
    if (remembered) return this.#holds(remembered, now) ? remembered.value : undefined
    return now < this.#misses.until(key) ? null : undefined
  }

  /** Asks the store, once however many callers wait for the same key; rejects with `StoreUnreachable`. */
  query(key: string): MaybeAtOnce<T | null> {
    const load = this.#loads.size === 0 ? undefined : this.#loads.get(key)
    return load ?? this.#ask(key, this.#now())
  }

  /** Queries the store for what another process has found there, unless this one has; rejects with `StoreUnreachable`. */
  async recall(key: string): Promise<void> {
    // A result that a change overtakes is not cached, even if the change may concern something else.
    for (let attempt = 0; attempt < mostRecalls && this.#values.peek(key)?.isLent !== false; attempt++) {
      const value = await (this.#loads.get(key) ?? this.#ask(key, this.#now(), true))
      if (value === null || this.#triesAt !== null) return
    }
  }

  /** Returns what is cached, for another process; null where it is too old even for this one. */
  lend(key: string): Lent<T> | null {
    const remembered = this.#values.peek(key)
    if (remembered === undefined) return null
    const age = Math.max(0, this.#ageOf(remembered, this.#now()))
    return age > this.#options.grace ? null : { value: remembered.value, age }
  }

  /** Returns all that `lend` does, by key, what was used last at the end. */
  *loans(): Iterable<readonly [key: string, lent: Lent<T>]> {
    for (const key of this.#values.rkeys()) {
      const lent = this.lend(key)
      if (lent !== null) yield [key, lent]
    }
  }

  /** Caches what another process had cached at a moment (monotonic ms) with its age, and returns whether it did: not where it may have changed since, or is too old. */
  adopt(key: string, { value, age }: Lent<T>, at = this.#now()): boolean {
    const { grace, missLife } = this.#options
    const knownAt = at - age
    const missedAt = this.#misses.until(key) - missLife
    // Any change since may concern it, and no change may ever be reported for what was removed before.
    if (knownAt <= Math.max(this.#changedAt, missedAt) || knownAt < this.#unheardUntil) return false
    if (this.#now() - knownAt > grace) return false
    if ((this.#values.peek(key)?.askedAt ?? Number.NEGATIVE_INFINITY) < knownAt)
      this.#keep(key, { value, askedAt: knownAt, isLent: true })
    return true
  }

  #holds(remembered: Remembered<T>, now: number): boolean {
    const age = this.#ageOf(remembered, now)
    if (age <= trust) return true
    if (this.#triesAt === null || age > this.#options.grace) return false
    if (now < this.#triesAt) return true
    this.#triesAt = now + pause
    return false
  }

  /** Returns for how long a value has not been known to be current. */
  #ageOf({ askedAt }: Remembered<T>, now: number): number {
    return now - Math.max(askedAt, this.#options.changes.knownUntil)
  }

  #ask(key: string, now: number, isRecalled = false): MaybeAtOnce<T | null> {
    if (this.#loading >= mostLoads) return Promise.reject(new StoreUnreachable('too many lookups at once'))
    const heard = this.#unkept + this.#heard.length
    const answer = this.#options.load(key)
    if (!(answer instanceof Promise)) return this.#take(key, answer, now, isRecalled)
    const load = this.#load(key, answer, heard, now, isRecalled)
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
    heard: number,
    askedAt: number,
    isRecalled: boolean,
  ): Promise<T | null> {
    this.#loading++
    try {
      const value = await answer
      // A change was reported meanwhile: the value may be older, which is fine for callers from before, and for none after.
      return this.#take(key, value, this.#isOvertaken(key, value, heard) ? null : askedAt, isRecalled)
    } catch (error) {
      return this.#oldValue(key, error) ?? (await this.#borrowed(key, error))
    } finally {
      if (--this.#loading === 0) this.#dropHeard()
    }
  }

  /** Takes what the store has answered; `askedAt` is null where that is not to be cached. */
  #take(key: string, value: T | null, askedAt: number | null, isRecalled: boolean): T | null {
    this.#triesAt = null
    if (askedAt !== null) this.#remember(key, value, askedAt)
    if (value !== null && !isRecalled) this.#options.found?.(key)
    return value
  }

  /** Whether a change that was reported after so many others may concern what was found. */
  #isOvertaken(key: string, value: T | null, after: number): boolean {
    if (after < this.#unkept) return true
    for (let i = after - this.#unkept; i < this.#heard.length; i++) {
      const change = this.#heard[i]!
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

  #keep(key: string, remembered: Remembered<T>): void {
    this.#cached.add(key)
    this.#values.set(key, remembered)
    const group = this.#groupOf(remembered.value)
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
    const lent = await this.#options.borrow?.(key)
    if (!lent || !this.adopt(key, lent, askedAt)) throw error
    return lent.value
  }

  #forget(change: Change): void {
    if (change.kind !== 'everything' && !this.#options.kinds.includes(change.kind)) return
    this.#changedAt = this.#now()
    if (this.#heard.length === mostHeard) this.#dropHeard()
    if (this.#loading > 0) this.#heard.push(change)
    const ended = this.#endedBy(change)
    if (ended === null) return this.#forgetWhat(change)
    // A load of what is of a group is not known as one.
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
    this.#unkept += this.#heard.length
    this.#heard = []
  }
}
