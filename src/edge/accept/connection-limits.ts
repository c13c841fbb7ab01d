// Limits the number of client connections: in total, per address, and by file descriptors.

import { clientKey } from '../../net/address/client-key.ts'
import { freeDescriptors, maxDescriptors } from '../../net/socket/descriptors.ts'
import type { Config } from '../../config/model/config.ts'
import { allConnections, Share } from './connection-share.ts'

/** For origins, files and whatever else a process opens. */
const spareDescriptors = 32
/** Those kept free of origins too, so that the side port stays reachable for diagnosis. */
const reservedDescriptors = 12

/** The first two have the names of their settings. */
export type ConnectionFault = 'connections' | 'connections_per_address' | 'descriptors'

export type RefusedConnection = ConnectionFault | 'penalty'

export class ConnectionLimits {
  readonly #share: Share
  /** By 64 bits for IPv6. */
  readonly #byAddress = new Map<string, number>()
  #total = 0
  #descriptors = Number.POSITIVE_INFINITY
  /** Each needs a second descriptor, for its origin. */
  #max = Number.POSITIVE_INFINITY
  #descriptorEnd = Number.POSITIVE_INFINITY

  constructor(share = new Share()) {
    this.#share = share
  }

  /** To be called once everything else is open. */
  measure(): void {
    this.#descriptors = freeDescriptors() - spareDescriptors
    this.#max = Math.floor(this.#descriptors / 2)
    this.#descriptorEnd = maxDescriptors() - spareDescriptors
  }

  /** Names the limit that it meets; a trusted peer has no limit of its own. */
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
    // After a connection was closed, the next one gets a low descriptor.
    if (this.#total >= this.#max || descriptor >= this.#descriptorEnd) return 'descriptors'
    this.#enter(key)
    return null
  }

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
