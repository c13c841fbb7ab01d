// Chooses the connection to close when there is no room for a new one: one without a complete request before an idle
// one, and in each case from the network that has the most. A client with many connections crowds out only itself.

import { clientKey, networkKey } from '../../net/address/client-key.ts'
import { type Crowd, Crowds } from './connections-by-network.ts'
import { everybody } from './connection-share.ts'

/** Ms for which a connection without a request stays where any other can make room: a client far away needs that long for a handshake and a head. */
const grace = 1_000
/** Connections that are looked at for one that can make room: of each network, and of one address or without a request. */
const mostOfEach = 20
const mostLookedAt = 1_000
/** Connections without a request that are a crowd, where they are an eighth of all or these are many. */
const fewestOfCrowd = 16

interface EvictableConnection {
  readonly peer: string
  /** Whether it has made a request, of which at least the head was complete. */
  readonly hasRequested: boolean
  /** Whether its client has begun a handshake of TLS, with a whole hello. */
  readonly hasSentHello: boolean
  /** Whether it has made a request, and none is under way. */
  readonly isIdle: boolean
}

export class Evictions<Connection extends EvictableConnection> {
  /** Those that had made no request when they were looked at last. */
  readonly #silent = new Crowds<Connection>()
  readonly #served = new Crowds<Connection>()

  /** Takes note of a connection at monotonic ms `now`. */
  add(connection: Connection, now: number): void {
    this.#silent.add(networkKey(connection.peer), connection, now)
  }

  delete(connection: Connection): void {
    const network = networkKey(connection.peer)
    if (!this.#silent.delete(network, connection)) this.#served.delete(network, connection)
  }

  /** Returns the connection under the limit of a key that is to make room at monotonic ms `now`; null where none was found soon that may. */
  find(key: string, now: number): Connection | null {
    if (key === everybody) return this.#silentOfMany(now - grace) ?? this.#idleOfMany()
    const network = networkKey(key)
    return (
      this.#silentOf(this.#silent.of(network), key, now - grace) ??
      idleOf(this.#served.of(network), key, mostLookedAt)
    )
  }

  /**
   * Returns one without a request under the limit of a key, for a connection from `peer`, even if it came only just now; null where none is to go. Unless its network has more of
   * them than that of `peer` will have, many of all connections must be without a request: then they are a crowd that connects again at once and always has all that are new,
   * while clients who come for a response would only cut each other off.
   */
  findNew(key: string, peer: string): Connection | null {
    const network = networkKey(peer)
    const own = this.#silent.of(network)
    const size = own?.members.size ?? 0
    if (key !== everybody) {
      const all = size + (this.#served.of(network)?.members.size ?? 0)
      return own === undefined ? null : oldestOf([own], key, fewestOf(all))
    }
    // Sizes are right only behind a look at the oldest.
    this.#silentOfMany(Number.NEGATIVE_INFINITY)
    const { largest } = this.#silent
    const isSmaller = largest !== undefined && size + 1 < largest.members.size
    const fewest = isSmaller ? 1 : fewestOf(this.#silent.size + this.#served.size)
    return oldestOf(this.#silent.largestFirst(), key, fewest)
  }

  /** Returns the oldest of a client without a request, at most so many, that did not come just now. */
  silentOf(key: string, now: number, most: number): readonly Connection[] {
    const found: Connection[] = []
    for (const [connection, since] of this.#silent.of(networkKey(key))?.members ?? []) {
      if (since > now - grace || found.length === most) break
      if (!connection.hasRequested && isOf(connection, key)) found.push(connection)
    }
    return found
  }

  #silentOfMany(by: number): Connection | null {
    // A network is as large as it seems once the oldest of it is known to be silent.
    for (let crowd = this.#silent.largest; crowd !== undefined; crowd = this.#silent.largest) {
      const { size } = crowd.members
      this.#silentOf(crowd, everybody, by)
      if (crowd.members.size === size) break
    }
    for (const crowd of this.#silent.largestFirst()) {
      const oldest = this.#silentOf(crowd, everybody, by)
      if (oldest !== null) return oldest
    }
    return null
  }

  /** Returns the oldest without a request, where it came by monotonic ms `by`; those that are found to have made one are counted as such from then on. */
  #silentOf(crowd: Crowd<Connection> | undefined, key: string, by: number): Connection | null {
    if (crowd === undefined) return null
    let left = mostLookedAt
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
      const idle = idleOf(crowd, everybody, mostOfEach)
      if (idle !== null) return idle
    }
    return null
  }
}

/** Returns how many connections without a request are a crowd among so many. */
function fewestOf(all: number): number {
  return Math.min(fewestOfCrowd, Math.max(2, Math.ceil(all / 8)))
}

/** Returns the oldest without a request of some networks, if there are at least so many: rather one whose client has not greeted than another. */
function oldestOf<Connection extends EvictableConnection>(
  crowds: Iterable<Crowd<Connection>>,
  key: string,
  fewest: number,
): Connection | null {
  let oldest: Connection | null = null
  let mute: Connection | null = null
  let count = 0
  let left = mostLookedAt
  for (const { members } of crowds)
    for (const connection of members.keys()) {
      if (left-- === 0) return null
      if (connection.hasRequested || !isOf(connection, key)) continue
      count++
      oldest ??= connection
      if (!connection.hasSentHello) mute ??= connection
      if (count >= fewest && (mute !== null || count >= fewestOfCrowd)) return mute ?? oldest
    }
  return count >= fewest ? oldest : null
}

function idleOf<Connection extends EvictableConnection>(
  crowd: Crowd<Connection> | undefined,
  key: string,
  most: number,
): Connection | null {
  if (crowd === undefined) return null
  const { members } = crowd
  const isMore = members.size > most
  let left = Math.min(members.size, most)
  for (const [connection, since] of members) {
    if (left-- === 0) return null
    if (connection.isIdle && isOf(connection, key)) return connection
    if (!isMore) continue
    // The next look begins behind those who are busy.
    members.delete(connection)
    members.set(connection, since)
  }
  return null
}

function isOf({ peer }: EvictableConnection, key: string): boolean {
  return key === everybody || clientKey(peer) === key
}
