// The HTTP/2 connections of one address. If they leave responses unread, their next requests are slowed.

import { clientKey } from '../../../net/address/client-key.ts'

/** Requests without any slowing, and the number beyond which the pace slows no further. */
const freeRequests = 128
const maxStalled = 1_024
/** Work per ms, times the square of the stalled requests: 16,000 requests/s with 128, 250 with 1,000. */
const pace = 16 * 1024 * 1024
const maxHeldBytes = 64 * 1024 * 1024
const timerResolution = 1

interface Reader {
  readonly isIndebted: boolean
  /** Reads on, and queues itself again if the work was not enough; must not throw. */
  readOn(work: number): void
}

export class Http2Address {
  /** Requests whose responses have not begun, or wait for the client to read them. */
  waitingRequests = 0
  stalledRequests = 0
  heldBytes = 0
  readonly key: string
  isTrusted = false
  readonly #readers: Reader[] = []
  readonly #indebted: Reader[] = []
  #count = 0
  #dueAt = 0

  constructor(key: string) {
    this.key = key
  }

  /** Ms until the next queued connection may read on; 0 for now. */
  get delay(): number {
    return this.#readers.length > 0 ? 0 : this.delayOfIndebted
  }

  get delayOfIndebted(): number {
    if (this.stalledRequests <= freeRequests || this.isTrusted) return 0
    const delay = this.#dueAt - performance.now()
    return delay < timerResolution ? 0 : delay
  }

  get isCrowded(): boolean {
    return this.waitingRequests > freeRequests && !this.isTrusted
  }

  get isOverdrawn(): boolean {
    return this.heldBytes > maxHeldBytes && !this.isTrusted
  }

  /** Whether a connection for which so many bytes wait has more than an even share. */
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

  charge(work: number): void {
    if (this.stalledRequests <= freeRequests || this.isTrusted) return
    const stalled = Math.min(this.stalledRequests, maxStalled)
    this.#dueAt = Math.max(this.#dueAt, performance.now()) + (work * stalled * stalled) / pace
  }

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

  leave(address: Http2Address): void {
    if (address.count(-1) === 0) this.#byKey.delete(address.key)
  }
}
