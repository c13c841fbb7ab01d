// The HTTP/2 connections of one address. Those that leave responses unread may begin requests at a pace that slows with
// the number of unread responses; the others are not held up by them. Requests that wait for their origin do not count.

import { clientKey } from '../../../net/address/client-key.ts'

/**
 * Requests up to which an address is neither crowded nor slowed, and the number beyond which the pace slows
 * no further.
 */
const freeRequests = 128
const maxStalled = 1_024
/**
 * Work per ms, times the square of the number of stalled requests: 16,000 requests a second with 128 of them,
 * 250 with 1,000.
 */
const pace = 16 * 1024 * 1024
/** Bytes of responses that may wait for the clients of an address. */
const maxHeldBytes = 64 * 1024 * 1024
/** Delays below this many ms, the resolution of a timer, count as none. */
const timerResolution = 1

interface Reader {
  /** Whether it leaves responses unread, and so must keep to the pace. */
  readonly isIndebted: boolean
  /** Reads on with this much work, and queues itself again if that was not enough; must not throw. */
  readOn(work: number): void
}

export class Http2Address {
  /** Requests whose responses have not begun, or wait for the client to read them. */
  waitingRequests = 0
  /** Those of them that wait for the client. */
  stalledRequests = 0
  /** Bytes of responses that wait for the client. */
  heldBytes = 0
  readonly key: string
  /** Whether it is a proxy, whose clients must not hold each other up. */
  isTrusted = false
  readonly #readers: Reader[] = []
  readonly #indebted: Reader[] = []
  #count = 0
  /** Monotonic ms from which indebted connections may read on. */
  #dueAt = 0

  constructor(key: string) {
    this.key = key
  }

  /** Ms until the next queued connection may read on, at least the resolution of a timer; 0 for now. */
  get delay(): number {
    return this.#readers.length > 0 ? 0 : this.delayOfIndebted
  }

  /** The same for indebted connections. */
  get delayOfIndebted(): number {
    if (this.stalledRequests <= freeRequests || this.isTrusted) return 0
    const delay = this.#dueAt - performance.now()
    return delay < timerResolution ? 0 : delay
  }

  /** Whether it has so many requests in progress that other addresses go first. */
  get isCrowded(): boolean {
    return this.waitingRequests > freeRequests && !this.isTrusted
  }

  /** Whether more bytes wait for its clients than are allowed. */
  get isOverdrawn(): boolean {
    return this.heldBytes > maxHeldBytes && !this.isTrusted
  }

  /**
   * Whether a connection for which so many bytes wait is to blame for that: it has more than an even share.
   */
  overdraws(heldBytes: number): boolean {
    return this.isOverdrawn && heldBytes > maxHeldBytes / this.#count
  }

  get hasWaiting(): boolean {
    return this.#readers.length > 0 || this.#indebted.length > 0
  }

  add(reader: Reader): void {
    if (reader.isIndebted) this.#indebted.push(reader)
    else this.#readers.push(reader)
  }

  /** Lets the longest-queued connection read on, preferring those that are not indebted. */
  readOn(work: number): void {
    const reader = this.#readers.shift() ?? this.#indebted.shift()
    reader?.readOn(work)
  }

  /** Delays indebted connections by the work done for one of them. */
  charge(work: number): void {
    if (this.stalledRequests <= freeRequests || this.isTrusted) return
    const stalled = Math.min(this.stalledRequests, maxStalled)
    this.#dueAt = Math.max(this.#dueAt, performance.now()) + (work * stalled * stalled) / pace
  }

  /** Adds or removes a connection; returns how many there are. */
  count(change: 1 | -1): number {
    this.#count += change
    return this.#count
  }
}

export class Http2Addresses {
  readonly #byKey = new Map<string, Http2Address>()

  get size(): number {
    return this.#byKey.size
  }

  /** Returns the address for a new connection from `peer`. */
  join(peer: string, isTrusted: boolean): Http2Address {
    // A trusted proxy is counted alone, not with its network.
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

  /** Removes the address after the last of its connections. */
  leave(address: Http2Address): void {
    if (address.count(-1) === 0) this.#byKey.delete(address.key)
  }
}
