// The HTTP/2 connections of one address. Those that leave responses unread may begin requests at a pace that slows with
// the number of unread responses; the others are not held up by them. Requests that wait for their origin do not count.

import { clientKey } from '../../../net/address/client-key.ts'

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
  /** Whether it leaves responses untaken, and so has to keep the pace. */
  readonly isIndebted: boolean
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
  readonly #indebted: Reader[] = []
  #count = 0
  /** When those that are indebted may read on; ms, monotonic. */
  #dueAt = 0

  constructor(key: string) {
    this.key = key
  }

  /** Ms until a connection that waits may read on, at least those of a timer; 0 for now. */
  get delay(): number {
    return this.#readers.length > 0 ? 0 : this.delayOfIndebted
  }

  /** The same of those that are indebted. */
  get delayOfIndebted(): number {
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

  /** Whether a connection whose responses take so many bytes has part in that: it has more than its even share. */
  overdraws(held: number): boolean {
    return this.isOverdrawn && held > mostHeld / this.#count
  }

  /** Whether a connection waits to read on. */
  get hasWaiting(): boolean {
    return this.#readers.length > 0 || this.#indebted.length > 0
  }

  /** Has a connection wait. */
  add(reader: Reader): void {
    if (reader.isIndebted) this.#indebted.push(reader)
    else this.#readers.push(reader)
  }

  /** Has the connection read on that has waited longest, of those that are not indebted where there are any. */
  readOn(work: number): void {
    const reader = this.#readers.shift() ?? this.#indebted.shift()
    reader?.readOn(work)
  }

  /** Has what comes of those that are indebted wait for work that was done for one of them. */
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
