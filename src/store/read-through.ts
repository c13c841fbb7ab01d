// What is remembered of the store, so that most requests never ask it.

import { LRUCache } from 'lru-cache'
import type { Lent } from './lending.ts'
import { type Change, type Changes, StoreUnreachable } from './store.ts'

export interface ReadThroughOptions<T> {
  readonly load: (key: string) => Promise<T | null>
  readonly changes: Changes
  /** What the values are made of: changes of other records leave all of it as it is. */
  readonly kinds: readonly RecordChange['kind'][]
  /** Whether a value may be another since a change of a record of such a kind. */
  readonly concerns: (change: RecordChange, value: T) => boolean
  /** Returns the only key that a change can be about, of which there is nothing since; null where it may be any. Without it, each may be about any. */
  readonly endedBy?: ((change: RecordChange) => string | null) | undefined
  /** The most values that are remembered; misses are bounded by the same number, apart from them. */
  readonly size: number
  /** How long it is remembered that there is nothing, in ms. */
  readonly missLife: number
  /** How long a value lives on while the store is unreachable, in ms since it was last known to be right. */
  readonly grace: number
  /** Hears of each key for which the store has something, unless it was asked by `recall`. */
  readonly found?: ((key: string) => void) | undefined
  /** Asks other processes for what they remember while the store is unreachable; never rejects. */
  readonly borrow?: ((key: string) => Promise<Lent<T> | null>) | undefined
  /** Monotonic ms, as `Changes.knownUntil` counts them. */
  readonly now?: () => number
}

export type RecordChange = Exclude<Change, { kind: 'everything' }>

interface Remembered<T> {
  readonly value: T
  /** When the store was asked for it. */
  readonly askedAt: number
}

/** How old a cached value may be before the store is read again, in ms: the longest that a revoked token can work. */
const trust = 5_000
/** How long old values are given out before one question tries whether the store is still away, in ms. */
const pause = 1_000
/** The most questions that wait for the store at once; more are turned away, so that a flood of random keys is not passed on to it. */
const mostLoads = 1_000
/** How often one recall asks. */
const mostRecalls = 3
/** The most changes that are kept while lookups run. */
const mostHeard = 10_000

export class ReadThrough<T extends object> {
  readonly #options: ReadThroughOptions<T>
  readonly #now: () => number
  readonly #values: LRUCache<string, Remembered<T>>
  /** Until when each miss holds. */
  readonly #misses: LRUCache<string, number>
  readonly #loads = new Map<string, Promise<T | null>>()
  #loading = 0
  /** The last changes that were told while lookups ran, and how many were told before the first of them. */
  #heard: Change[] = []
  #unkept = 0
  /** Up to when changes were told before it followed them, which it has not heard. */
  readonly #unheardUntil: number
  /** When the last change was told. */
  #changedAt = Number.NEGATIVE_INFINITY
  /** When to try whether the store is still away; null while it answers. */
  #triesAt: number | null = null

  constructor(options: ReadThroughOptions<T>) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#values = new LRUCache({ max: options.size })
    this.#misses = new LRUCache({ max: options.size })
    options.changes.follow(change => this.#forget(change))
    this.#unheardUntil = options.changes.knownUntil
  }

  /** Answers at once from memory where it can, else asks the store once however many wait for the same key; rejects with `StoreUnreachable`. */
  get(key: string): T | null | Promise<T | null> {
    const now = this.#now()
    const remembered = this.#values.get(key)
    if (remembered) {
      if (this.#holds(remembered, now)) return remembered.value
    } else if (now < (this.#misses.get(key) ?? 0)) return null
    return this.#loads.get(key) ?? this.#ask(key, now)
  }

  /** Asks the store for what another process has found there, unless something is remembered; rejects with `StoreUnreachable`. */
  async recall(key: string): Promise<void> {
    // What a change overtakes is not remembered, though it may have been a change of something else.
    for (let attempt = 0; attempt < mostRecalls && !this.#values.has(key); attempt++)
      if ((await (this.#loads.get(key) ?? this.#ask(key, this.#now(), true))) === null) return
  }

  /** Hands out what is remembered, for a process that has nothing; null where it is too old even for this one. */
  lend(key: string): Lent<T> | null {
    const remembered = this.#values.peek(key)
    if (remembered === undefined) return null
    const age = Math.max(0, this.#ageOf(remembered, this.#now()))
    return age > this.#options.grace ? null : { value: remembered.value, age }
  }

  #holds(remembered: Remembered<T>, now: number): boolean {
    const age = this.#ageOf(remembered, now)
    if (age <= trust) return true
    if (this.#triesAt === null || age > this.#options.grace) return false
    if (now < this.#triesAt) return true
    this.#triesAt = now + pause
    return false
  }

  /** Returns for how long it has not been known that a value is right. */
  #ageOf({ askedAt }: Remembered<T>, now: number): number {
    return now - Math.max(askedAt, this.#options.changes.knownUntil)
  }

  #ask(key: string, now: number, isRecalled = false): Promise<T | null> {
    if (this.#loading >= mostLoads) return Promise.reject(new StoreUnreachable('too many lookups at once'))
    const load = this.#load(key, now, isRecalled)
    this.#loads.set(key, load)
    const done = () => {
      if (this.#loads.get(key) === load) this.#loads.delete(key)
    }
    load.then(done, done)
    return load
  }

  async #load(key: string, askedAt: number, isRecalled: boolean): Promise<T | null> {
    const heard = this.#unkept + this.#heard.length
    this.#loading++
    try {
      const value = await this.#options.load(key)
      this.#triesAt = null
      // A change was told meanwhile: the value may be older than it, good enough for those who asked before, and for nobody after.
      if (!this.#isOvertaken(key, value, heard)) this.#remember(key, { value, askedAt })
      if (value !== null && !isRecalled) this.#options.found?.(key)
      return value
    } catch (error) {
      return this.#oldValue(key, error) ?? (await this.#borrowed(key, error))
    } finally {
      if (--this.#loading === 0) this.#dropHeard()
    }
  }

  /** Whether a change that was told after so many others may be one of what was found. */
  #isOvertaken(key: string, value: T | null, after: number): boolean {
    if (after < this.#unkept) return true
    for (let i = after - this.#unkept; i < this.#heard.length; i++) {
      const change = this.#heard[i]!
      const ended = this.#endedBy(change)
      if (ended !== null ? ended === key : this.#mayBeOf(value, change)) return true
    }
    return false
  }

  #mayBeOf(value: T | null, change: Change): boolean {
    return value === null || change.kind === 'everything' || this.#options.concerns(change, value)
  }

  #endedBy(change: Change): string | null {
    return change.kind === 'everything' ? null : (this.#options.endedBy?.(change) ?? null)
  }

  #remember(key: string, { value, askedAt }: Remembered<T | null>): void {
    if (value) return void this.#values.set(key, { value, askedAt })
    this.#values.delete(key)
    this.#misses.set(key, askedAt + this.#options.missLife)
  }

  #oldValue(key: string, error: unknown): T | null {
    if (!(error instanceof StoreUnreachable)) throw error
    const now = this.#now()
    this.#triesAt = now + pause
    const old = this.#values.peek(key)
    return old && this.#ageOf(old, now) <= this.#options.grace ? old.value : null
  }

  async #borrowed(key: string, error: unknown): Promise<T> {
    const { borrow, grace, missLife } = this.#options
    const askedAt = this.#now()
    const lent = await borrow?.(key)
    if (!lent) throw error
    const knownAt = askedAt - lent.age
    const missedAt = (this.#misses.peek(key) ?? Number.NEGATIVE_INFINITY) - missLife
    // Any change that was told since may be one of this, and what was gone before may be told of never.
    if (knownAt <= Math.max(this.#changedAt, missedAt) || knownAt < this.#unheardUntil) throw error
    if (this.#now() - knownAt > grace) throw error
    this.#values.set(key, { value: lent.value, askedAt: knownAt })
    return lent.value
  }

  #forget(change: Change): void {
    if (change.kind !== 'everything' && !this.#options.kinds.includes(change.kind)) return
    this.#changedAt = this.#now()
    if (this.#heard.length === mostHeard) this.#dropHeard()
    if (this.#loading > 0) this.#heard.push(change)
    const ended = this.#endedBy(change)
    if (ended === null) return this.#forgetWhat(change)
    this.#loads.delete(ended)
    this.#values.delete(ended)
  }

  #forgetWhat(change: Change): void {
    this.#loads.clear()
    this.#misses.clear()
    if (change.kind === 'everything') return this.#values.clear()
    // Changes are rare: looking at each value is cheaper than keeping an index of them right.
    for (const [key, { value }] of this.#values.entries())
      if (this.#options.concerns(change, value)) this.#values.delete(key)
  }

  #dropHeard(): void {
    this.#unkept += this.#heard.length
    this.#heard = []
  }
}
