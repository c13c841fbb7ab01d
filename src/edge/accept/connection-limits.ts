// Limits the number of client connections: in total, per address, and by file descriptors.

import { clientKey } from '../../net/address/client-key.ts'
import { freeDescriptors, maxDescriptors } from '../../net/socket/descriptors.ts'
import type { Config } from '../../config/model/config.ts'
import { allConnections, Share } from './connection-share.ts'

/** File descriptors kept free of clients, for origins, files and whatever else a process opens. */
const spareDescriptors = 32
/** Those of them kept free of origins too, so that the side port stays reachable for diagnosis. */
const reservedDescriptors = 12

/** The limit that a connection met; the first two have the names of their settings. */
export type ConnectionFault = 'connections' | 'connections_per_address' | 'descriptors'

export type RefusedConnection = ConnectionFault | 'penalty'

export class ConnectionLimits {
  /** This process's share of the limits for all workers. */
  readonly #share: Share
  /** An IPv6 address counts by its first 64 bits. */
  readonly #byAddress = new Map<string, number>()
  #total = 0
  /** Sockets that the process can open besides its files. */
  #descriptors = Number.POSITIVE_INFINITY
  /** The maximum of client connections: each needs a second descriptor, for its origin. */
  #max = Number.POSITIVE_INFINITY
  /** The first descriptor that is not for clients. */
  #descriptorEnd = Number.POSITIVE_INFINITY

  constructor(share = new Share()) {
    this.#share = share
  }

  /** Measures how many descriptors are left; to be called once everything else is open. */
  measure(): void {
    this.#descriptors = freeDescriptors() - spareDescriptors
    this.#max = Math.floor(this.#descriptors / 2)
    this.#descriptorEnd = maxDescriptors() - spareDescriptors
  }

  /**
   * Counts a connection from `peer` with this descriptor, or names the limit that it meets; a trusted peer
   * has no limit of its own.
   */
  take(
    peer: string,
    isTrusted: boolean,
    descriptor: number,
    { connections, connectionsPerAddress }: Config['client'],
  ): ConnectionFault | null {
    const key = clientKey(peer)
    // Checked first, so that an address at its limit replaces a connection of its own.
    if (this.#isAtLimit(key, isTrusted, connectionsPerAddress)) return 'connections_per_address'
    if (connections !== 0 && this.#total >= this.#share.partOf(allConnections, connections))
      return 'connections'
    // The total is checked too: after a connection was closed, the next one gets a low descriptor.
    if (this.#total >= this.#max || descriptor >= this.#descriptorEnd) return 'descriptors'
    this.#enter(key)
    return null
  }

  /** Counts a connection of one peer as one of another, or names the limit that it meets. */
  move(
    from: string,
    to: string,
    isTrusted: boolean,
    { connectionsPerAddress }: Config['client'],
  ): ConnectionFault | null {
    const key = clientKey(to)
    if (key === clientKey(from)) return null
    if (this.#isAtLimit(key, isTrusted, connectionsPerAddress)) return 'connections_per_address'
    this.#enter(key)
    this.leave(from)
    return null
  }

  /** Whether a descriptor is free for one more origin connection besides these `others`. */
  mayDial(others: number): boolean {
    return this.#total + others < this.#descriptors + spareDescriptors - reservedDescriptors
  }

  count(key: string): number {
    return key === allConnections ? this.#total : (this.#byAddress.get(key) ?? 0)
  }

  #isAtLimit(key: string, isTrusted: boolean, limit: number): boolean {
    return !isTrusted && limit !== 0 && this.count(key) >= this.#share.partOf(key, limit)
  }

  #enter(key: string): void {
    this.#byAddress.set(key, this.count(key) + 1)
    this.#total++
  }

  leave(peer: string): void {
    const key = clientKey(peer)
    const count = this.#byAddress.get(key)!
    this.#total--
    if (count === 1) this.#byAddress.delete(key)
    else this.#byAddress.set(key, count - 1)
  }
}
