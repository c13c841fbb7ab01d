// How many connections clients may have: in all, from one address, and as long as there are file descriptors.

import { clientKey } from '../../net/address/client-key.ts'
import { freeDescriptors, mostDescriptors } from '../../net/socket/descriptors.ts'
import type { Config } from '../../config/model/config.ts'
import { everybody, Share } from './connection-share.ts'

/** File descriptors that stay free of clients, for origins, files and whatever else a process opens. */
const spare = 32
/** Those of them that stay free of origins too, or the side port could not be reached to find out what is wrong. */
const reserve = 12

/** The limit that a connection met; the first two are named as their settings. */
export type ConnectionFault = 'connections' | 'connections_per_address' | 'descriptors'

/** Why a connection is refused. */
export type RefusedConnection = ConnectionFault | 'penalty'

export class ConnectionLimits {
  /** Of what all workers may have together, what this process may have. */
  readonly #share: Share
  /** Of IPv6, the first 64 bits count as one address. */
  readonly #byAddress = new Map<string, number>()
  #total = 0
  /** Most sockets that the process can have besides what it has open already. */
  #descriptors = Number.POSITIVE_INFINITY
  /** Most connections of clients: with each, there is a descriptor for one to an origin. */
  #most = Number.POSITIVE_INFINITY
  /** The first descriptor that is not for clients. */
  #end = Number.POSITIVE_INFINITY

  constructor(share = new Share()) {
    this.#share = share
  }

  /** Measures how many descriptors are left; to be called once everything else is open. */
  measure(): void {
    this.#descriptors = freeDescriptors() - spare
    this.#most = Math.floor(this.#descriptors / 2)
    this.#end = mostDescriptors() - spare
  }

  /** Takes a connection from `peer` with this descriptor, or names the limit that it meets; who is trusted may have any number. */
  take(
    peer: string,
    isTrusted: boolean,
    descriptor: number,
    { connections, connectionsPerAddress }: Config['client'],
  ): ConnectionFault | null {
    const key = clientKey(peer)
    // First, so that an address at its limit takes the place of one of its own.
    if (this.#isAtMost(key, isTrusted, connectionsPerAddress)) return 'connections_per_address'
    if (connections !== 0 && this.#total >= this.#share.most(everybody, connections)) return 'connections'
    // The total as well: behind a connection that was closed, the next one has a low descriptor.
    if (this.#total >= this.#most || descriptor >= this.#end) return 'descriptors'
    this.#enter(key)
    return null
  }

  /** Has a connection of one peer count as one of another, or names the limit that it meets there. */
  move(
    from: string,
    to: string,
    isTrusted: boolean,
    { connectionsPerAddress }: Config['client'],
  ): ConnectionFault | null {
    const key = clientKey(to)
    if (key === clientKey(from)) return null
    if (this.#isAtMost(key, isTrusted, connectionsPerAddress)) return 'connections_per_address'
    this.#enter(key)
    this.leave(from)
    return null
  }

  /** Whether there is a descriptor for one more connection to an origin; `others` counts those there are. */
  mayDial(others: number): boolean {
    return this.#total + others < this.#descriptors + spare - reserve
  }

  /** Counts the connections under the limit of a key. */
  count(key: string): number {
    return key === everybody ? this.#total : (this.#byAddress.get(key) ?? 0)
  }

  #isAtMost(key: string, isTrusted: boolean, most: number): boolean {
    return !isTrusted && most !== 0 && this.count(key) >= this.#share.most(key, most)
  }

  #enter(key: string): void {
    this.#byAddress.set(key, this.count(key) + 1)
    this.#total++
  }

  /** Releases what `take` took. */
  leave(peer: string): void {
    const key = clientKey(peer)
    const count = this.#byAddress.get(key)!
    this.#total--
    if (count === 1) this.#byAddress.delete(key)
    else this.#byAddress.set(key, count - 1)
  }
}
