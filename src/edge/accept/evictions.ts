// Chooses the connection to close for a new one: rather without a request than idle, of the largest network.

import { clientKey, networkKey } from '../../net/address/client-key.ts'
import { type Crowd, Crowds } from './connections-by-network.ts'
import { allConnections } from './connection-share.ts'

/** Ms that a distant client needs for its handshake and head. */
const grace = 1_000
/** Connections searched: of each network, and in all. */
const maxPerNetwork = 20
const maxSearched = 1_000
/** Unless an eighth of all is fewer. */
const crowdSize = 16

interface EvictableConnection {
  readonly peer: string
  readonly hasRequested: boolean
  readonly hasSentHello: boolean
  readonly isIdle: boolean
}

export class Evictions<Connection extends EvictableConnection> {
  readonly #silent = new Crowds<Connection>()
  readonly #served = new Crowds<Connection>()

  add(connection: Connection, now: number): void {
    this.#silent.add(networkKey(connection.peer), connection, now)
  }

  delete(connection: Connection): void {
    const network = networkKey(connection.peer)
    if (!this.#silent.delete(network, connection)) this.#served.delete(network, connection)
  }

  find(key: string, now: number): Connection | null {
    if (key === allConnections) return this.#silentOfMany(now - grace) ?? this.#idleOfMany()
    const network = networkKey(key)
    return (
      this.#silentOf(this.#silent.of(network), key, now - grace) ??
      idleOf(this.#served.of(network), key, maxSearched)
    )
  }

  /**
   * Finds a connection without a request to close even for one that arrived just now: in a larger network
   * than that of `peer`, or in a crowd, whose clients reconnect at once. New clients must not cut each other
   * off.
   */
  findNew(key: string, peer: string): Connection | null {
    const network = networkKey(peer)
    const own = this.#silent.of(network)
    const size = own?.members.size ?? 0
    if (key !== allConnections) {
      const all = size + (this.#served.of(network)?.members.size ?? 0)
      return own === undefined ? null : oldestOf([own], key, crowdSizeAmong(all))
    }
    // Sizes are right only after the oldest were examined.
    this.#silentOfMany(Number.NEGATIVE_INFINITY)
    const { largest } = this.#silent
    const isSmaller = largest !== undefined && size + 1 < largest.members.size
    const min = isSmaller ? 1 : crowdSizeAmong(this.#silent.size + this.#served.size)
    return oldestOf(this.#silent.largestFirst(), key, min)
  }

  silentOf(key: string, now: number, max: number): readonly Connection[] {
    const silent: Connection[] = []
    for (const [connection, since] of this.#silent.of(networkKey(key))?.members ?? []) {
      if (since > now - grace || silent.length === max) break
      if (!connection.hasRequested && isOf(connection, key)) silent.push(connection)
    }
    return silent
  }

  #silentOfMany(by: number): Connection | null {
    // The size of a network is right once its oldest connection is known to be silent.
    for (let crowd = this.#silent.largest; crowd !== undefined; crowd = this.#silent.largest) {
      const { size } = crowd.members
      this.#silentOf(crowd, allConnections, by)
      if (crowd.members.size === size) break
    }
    for (const crowd of this.#silent.largestFirst()) {
      const oldest = this.#silentOf(crowd, allConnections, by)
      if (oldest !== null) return oldest
    }
    return null
  }

  /** Moves those that turn out to have made a request to the served. */
  #silentOf(crowd: Crowd<Connection> | undefined, key: string, by: number): Connection | null {
    if (crowd === undefined) return null
    let left = maxSearched
    for (const [connection, since] of crowd.members) {
      if (connection.hasRequested) {
        this.#silent.delete(crowd.network, connection)
        this.#served.add(crowd.network, connection, since)
      } else if (since > by || left-- === 0) return null
      else if (isOf(connection, key)) return connection
    }
    return null
  }

  #idleOfMany(): Connection | null {
    for (const crowd of this.#served.largestFirst()) {
      const idle = idleOf(crowd, allConnections, maxPerNetwork)
      if (idle !== null) return idle
    }
    return null
  }
}

function crowdSizeAmong(all: number): number {
  return Math.min(crowdSize, Math.max(2, Math.ceil(all / 8)))
}

/** Prefers one whose client has sent no ClientHello. */
function oldestOf<Connection extends EvictableConnection>(
  crowds: Iterable<Crowd<Connection>>,
  key: string,
  min: number,
): Connection | null {
  let oldest: Connection | null = null
  let withoutHello: Connection | null = null
  let count = 0
  let left = maxSearched
  for (const { members } of crowds)
    for (const connection of members.keys()) {
      if (left-- === 0) return null
      if (connection.hasRequested || !isOf(connection, key)) continue
      count++
      oldest ??= connection
      if (!connection.hasSentHello) withoutHello ??= connection
      if (count >= min && (withoutHello !== null || count >= crowdSize)) return withoutHello ?? oldest
    }
  return count >= min ? oldest : null
}

function idleOf<Connection extends EvictableConnection>(
  crowd: Crowd<Connection> | undefined,
  key: string,
  max: number,
): Connection | null {
  if (crowd === undefined) return null
  const { members } = crowd
  const hasMore = members.size > max
  let left = Math.min(members.size, max)
  for (const [connection, since] of members) {
    if (left-- === 0) return null
    if (connection.isIdle && isOf(connection, key)) return connection
    if (!hasMore) continue
    // The next search begins after these busy ones.
    members.delete(connection)
    members.set(connection, since)
  }
  return null
}

function isOf({ peer }: EvictableConnection, key: string): boolean {
  return key === allConnections || clientKey(peer) === key
}
