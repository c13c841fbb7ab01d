// The connections over HTTP/2 of one address, and the pace at which they begin requests: the more of these have responses that the client does not take, the slower.
// Requests that wait for their origins alone are no fault of the client.

import { clientKey } from '../../base/address/client-key.ts'

/** Requests beyond which the address is crowded or there is a pace, and beyond which that gets no slower. */
const free = 128
const slowest = 1_024
/** Work a ms, times the square of how many requests are stalled: 16,000 requests a second with 128 of them, 250 with 1,000. */
const pace = 16 * 1024 * 1024
/** Bytes of responses that may wait for a client that takes none. */
const mostHeld = 64 * 1024 * 1024
/** Ms, those of a timer, by which it may be early: it would wait for less by turning the event loop. */
const mostEarly = 1

interface Reader {
  /** Reads on with so much work, and waits again where that was not enough; must not throw. */
  readOn(work: number): void
}

export class Http2Address {
  /** Requests whose responses have not begun, or wait for the client to take them. */
  waitingRequests = 0
  /** Those of them that wait for the client. */
  stalledRequests = 0
  /** Bytes of responses that wait for the client to take them. */
  held = 0
  readonly key: string
  /** Whether it speaks for many clients, who are not to wait for each other. */
  isTrusted = false
  readonly #readers: Reader[] = []
  #count = 0
  /** When it may read on; ms, monotonic. */
  #dueAt = 0

  constructor(key: string) {
    this.key = key
  }

  /** Ms until its connections may read, at least those of a timer; 0 for now. */
  get delay(): number {
    if (this.stalledRequests <= free || this.isTrusted) return 0
    const delay = this.#dueAt - performance.now()
    return delay < mostEarly ? 0 : delay
  }

  /** Whether so much is under way that others go first. */
  get isCrowded(): boolean {
    return this.waitingRequests > free && !this.isTrusted
  }

  /** Whether more of its responses wait than it may leave. */
  get isOverdrawn(): boolean {
    return this.held > mostHeld && !this.isTrusted
  }

  /** Whether a connection waits to read on. */
  get hasWaiting(): boolean {
    return this.#readers.length > 0
  }

  /** Has a connection wait. */
  add(reader: Reader): void {
    this.#readers.push(reader)
  }

  /** Has the connection read on that has waited longest. */
  readOn(work: number): void {
    this.#readers.shift()?.readOn(work)
  }

  /** Has what comes wait for work that was done. */
  charge(work: number): void {
    if (this.stalledRequests <= free || this.isTrusted) return
    const stalled = Math.min(this.stalledRequests, slowest)
    this.#dueAt = Math.max(this.#dueAt, performance.now()) + (work * stalled * stalled) / pace
  }

  /** Takes note of another connection, or of the end of one; returns how many there are. */
  count(change: 1 | -1): number {
    this.#count += change
    return this.#count
  }
}

/** All addresses that have connections over HTTP/2. */
export class Http2Addresses {
  readonly #byKey = new Map<string, Http2Address>()

  /** How many there are. */
  get size(): number {
    return this.#byKey.size
  }

  /** Returns the address of another connection from `peer`. */
  join(peer: string, isTrusted: boolean): Http2Address {
    // A proxy speaks for others, and not for its network.
    const key = isTrusted ? `proxy ${peer}` : clientKey(peer)
    let address = this.#byKey.get(key)
    if (address === undefined) {
      address = new Http2Address(key)
      address.isTrusted = isTrusted
      this.#byKey.set(key, address)
    }
    address.count(1)
    return address
  }

  /** Forgets an address with the last of its connections. */
  leave(address: Http2Address): void {
    if (address.count(-1) === 0) this.#byKey.delete(address.key)
  }
}
