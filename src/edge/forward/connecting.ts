// The wait of a request for a connection to its origin, from one attempt to the next.

import type { Timeouts } from '../../config/model/config.ts'
import { authenticatesConnection } from '../../http1/fields/connection-authentication.ts'
import type { Failure } from '../../errors/catalogue/origin-failure.ts'
import { answerBug } from '../exchange/deliver.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Dial, DialPhase } from '../origin/dial/dial.ts'
import type { Lease } from '../origin/lease.ts'
import { longestWait } from '../origin/longest-wait.ts'
import type { Origin } from '../origin/origin.ts'
import type { Waiter } from '../origin/connection-queue.ts'
import { deadlineIn } from '../exchange/deadline.ts'
import type { KeptBody } from './buffered-body.ts'

/** Extended by what needs the connection, and no part of its own: one object less for each request. */
export abstract class Connecting implements Waiter {
  readonly timeouts: Timeouts
  /** Monotonic ms until which the wait may last. */
  protected waitDeadline = Number.POSITIVE_INFINITY
  readonly #x: Exchange
  #isFresh = false
  /** The origin that it was sent to before its body was there, as long as that still comes. */
  #uploadsTo: Origin | null = null
  #hasAskedNameAgain = false
  #isHttp1Required = false

  constructor(x: Exchange) {
    this.#x = x
    this.timeouts = x.route!.config.timeouts
  }

  /** WebSockets do, and what authenticates its connection, which HTTP/2 shares; and what the origin takes in no other way. */
  get needsHttp1(): boolean {
    return this.#isHttp1Required || this.#x.upgrade === 'asked' || authenticatesConnection(this.#x.outgoing)
  }

  /** The origin takes the request by HTTP/1.1 alone. */
  protected requireHttp1(): void {
    this.#isHttp1Required = true
  }

  abstract connected(lease: Lease): void
  /** There is none; `isRepeatable` where another member may be asked for one. */
  protected abstract lost(phase: DialPhase, failure: Failure, isRepeatable: boolean): void
  /** The same origin is to be asked once more, for a `fresh` connection as before. */
  protected abstract connect(fresh: boolean): void

  /** Asks the origin for a connection; a `fresh` one was never used. */
  protected ask(fresh: boolean, body: KeptBody | null): void {
    const origin = this.#x.origin!
    const isUpload = body?.isWhole === false && !this.#x.requestBody.done
    this.#isFresh = fresh
    this.waitDeadline = deadlineIn(this.#x, longestWait(origin.config, this.timeouts, isUpload))
    const { client, clientAddress } = this.#x
    if (!fresh && client.pinned !== null && origin.acquirePinned(this, client.pinned, clientAddress)) return
    if (!isUpload) return origin.acquire(this, { fresh })
    this.#uploadsTo = origin
    origin.acquireForUpload(this)
  }

  /** Waits no longer. */
  protected waitNoLonger(): void {
    this.#x.origin!.forget(this)
    this.endUpload()
  }

  /** Makes room for another upload, once the body is there or the response begins. */
  protected endUpload(): void {
    const origin = this.#uploadsTo
    if (origin === null) return
    this.#uploadsTo = null
    origin.endUpload(this)
  }

  unconnected(phase: DialPhase, failure: Failure, times: Dial['times']): void {
    this.endUpload()
    this.#x.openingTimes = times
    // A request that has waited its time in one queue must not wait as long in the next.
    if (failure.way !== 'name_unanswered' || this.#hasAskedNameAgain)
      return this.lost(phase, failure, failure.way !== 'GH_QUEUE_TIMEOUT')
    this.#hasAskedNameAgain = true
    this.connect(this.#isFresh)
  }

  crashed(bug: unknown): void {
    answerBug(this.#x, bug)
  }
}
