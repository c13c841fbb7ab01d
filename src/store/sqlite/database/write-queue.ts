// The writes of one connection, in order. Queued writes share a commit, which waits for the disk. The event
// loop continues while another process holds the lock.

import type { StoreMetrics, WriteRefusal } from '../../../metrics/counters/store-metrics.ts'
import { StoreUnreachable, StoreBusy, StoreUntouched } from '../../contract/store.ts'
import { isBusy, isOutOfReach, isTorn, named, type Transactions } from './transactions.ts'

interface WriteQueueOptions {
  readonly transactions: Transactions
  /** Called before each commit; throws if nothing may be committed. */
  readonly check: () => void
  /** How long a write waits for the lock, in ms. */
  readonly timeout: number
  readonly metrics: StoreMetrics
  /** Called when the file could be written, or with the reason why it could not. */
  readonly report: (failure: unknown) => void
  /** Whether the last write to the file failed; then nothing is queued. */
  readonly isUnreachable: () => boolean
}

interface Waiting {
  readonly work: () => unknown
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  /** When it was queued, and when it times out, in monotonic ms. */
  readonly since: number
  readonly deadline: number
}

interface Done {
  readonly waiting: Waiting
  readonly outcome: { readonly result: unknown } | { readonly failure: unknown }
}

/** The maximum number of queued writes; more are refused. */
const maxWaiting = 1_000
/** Time after which a transaction takes no more work, in ms; the commit comes on top. */
const budget = 3
/** Ms before a retry to get the lock: random, so that waiting processes do not collide again. */
const [minPause, maxPause] = [1, 4]
/** How long the lock is left to others after a commit, in ms: longer than their delay. */
const rest = maxPause + 2
/** How long others count as waiting after they were last met, in ms. */
const contention = 250

export class WriteQueue {
  readonly #options: WriteQueueOptions
  #waiting: Waiting[] = []
  #isAtWork = false
  #timer: NodeJS.Timeout | undefined
  /** When this connection last had the lock, and when it last found another one holding it. */
  #hadAt = Number.NEGATIVE_INFINITY
  #metAt = Number.NEGATIVE_INFINITY
  #restsUntil = Number.NEGATIVE_INFINITY

  constructor(options: WriteQueueOptions) {
    this.#options = options
  }

  /**
   * Runs synchronous work in a transaction, and resolves when that is committed; an exception undoes only its
   * own work. Rejects with `StoreBusy` if it was not run.
   */
  push<T>(work: () => T): Promise<T> {
    const { timeout, isUnreachable, metrics } = this.#options
    if (this.#waiting.length >= maxWaiting) return Promise.reject(this.#refusal('queue_full'))
    metrics.queuedWrites.inc()
    const since = performance.now()
    const deadline = since + (isUnreachable() ? 0 : timeout)
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#waiting.push({ work, resolve: resolve as Waiting['resolve'], reject, since, deadline })
    this.#attend()
    return promise
  }

  /** Runs the queued work if the lock is free, and rejects the rest. */
  close(): void {
    clearTimeout(this.#timer)
    try {
      while (this.#waiting.length > 0) this.#transact()
    } catch (error) {
      this.#rejectAll(new StoreUntouched(named(error)))
    }
  }

  #attend(): void {
    if (this.#isAtWork) return
    this.#isAtWork = true
    // All work of the same turn goes into the same transaction.
    if (performance.now() >= this.#restsUntil) setImmediate(this.#serve)
    else this.#pause(this.#restsUntil - performance.now())
  }

  #pause(ms: number): void {
    this.#timer = setTimeout(this.#serve, ms)
  }

  readonly #serve = (): void => {
    if (this.#waiting.length > 0) {
      try {
        this.#transact()
      } catch (error) {
        this.#fail(error)
        if (this.#waiting.length > 0) return this.#pause(minPause + (maxPause - minPause) * Math.random())
      }
    }
    this.#isAtWork = false
    if (this.#waiting.length > 0) this.#attend()
  }

  /** Runs what fits in one transaction; throws, with everything still queued, if none can begin. */
  #transact(): void {
    const { transactions, check, report } = this.#options
    transactions.begin()
    this.#hadAt = performance.now()
    const done: Done[] = []
    try {
      this.#work(done)
      check()
      transactions.commit()
    } catch (failure) {
      transactions.rollback()
      const error = isOutOfReach(failure) ? this.#away(failure) : failure
      for (const { waiting } of done) waiting.reject(error)
      return
    }
    report(null)
    const now = performance.now()
    if (now - this.#metAt < contention) this.#restsUntil = now + rest
    for (const { waiting, outcome } of done)
      if ('result' in outcome) waiting.resolve(outcome.result)
      else waiting.reject(outcome.failure)
  }

  #work(done: Done[]): void {
    const { transactions } = this.#options
    const end = performance.now() + budget
    const isAlone = this.#waiting.length === 1
    do {
      const waiting = this.#take()
      const at = done.push({ waiting, outcome: { failure: null } }) - 1
      try {
        const result = isAlone ? waiting.work() : transactions.nested(waiting.work)
        done[at] = { waiting, outcome: { result } }
      } catch (failure) {
        if (isAlone || isOutOfReach(failure) || !transactions.isOpen) throw failure
        done[at] = { waiting, outcome: { failure } }
      }
    } while (!isAlone && this.#waiting.length > 0 && performance.now() < end)
  }

  #fail(error: unknown): void {
    const { isUnreachable, report } = this.#options
    if (!isBusy(error)) return this.#rejectAll(isOutOfReach(error) ? this.#away(error) : error)
    const now = performance.now()
    this.#metAt = now
    const { since, deadline } = this.#waiting[0]!
    // No gateway process holds it for this long: the holder is stuck, and waiting is pointless.
    if (deadline <= now && this.#hadAt < since) report(error)
    while (this.#waiting.length > 0 && (isUnreachable() || this.#waiting[0]!.deadline <= now))
      this.#take().reject(this.#refusal('locked', error))
  }

  #away(cause: unknown): StoreUnreachable {
    this.#options.report(cause)
    return isTorn(cause)
      ? new StoreUnreachable(named(cause), 'unconfirmed')
      : new StoreUntouched(named(cause))
  }

  #refusal(reason: WriteRefusal, cause?: unknown): StoreBusy {
    this.#options.metrics.refusedWrites[reason].inc()
    return new StoreBusy(named(cause))
  }

  #rejectAll(error: unknown): void {
    while (this.#waiting.length > 0) this.#take().reject(error)
  }

  #take(): Waiting {
    this.#options.metrics.queuedWrites.dec()
    return this.#waiting.shift()!
  }
}
