// The idle pinned connections of a process to its origins.

import { maxIdle } from './idle-connections.ts'
import type { PinnedConnection } from '../lease.ts'

/** The next message of its client's authentication needs it. */
const grace = 1_000

export class IdlePinnedConnections {
  /** With the monotonic ms of return, the oldest first. */
  readonly #since = new Map<PinnedConnection, number>()

  /** Keeps a connection as long as the origin allows: another one needs authentication again. */
  add(connection: PinnedConnection, now: number): void {
    const granted = connection.grantedIdle === -1 ? maxIdle : connection.grantedIdle
    connection.deadline = now + Math.min(granted, maxIdle)
    this.#since.set(connection, now)
  }

  has(connection: PinnedConnection): boolean {
    return this.#since.has(connection)
  }

  delete(connection: PinnedConnection): boolean {
    return this.#since.delete(connection)
  }

  get size(): number {
    return this.#since.size
  }

  /** They must not use up the file descriptors. */
  closeFirst(): void {
    this.#since.keys().next().value?.close()
  }

  /** Closes the one idle for longest (of an origin, or of all), if long enough; else false. */
  closeOldest(now: number, origin: object | null): boolean {
    for (const [connection, since] of this.#since) {
      if (since > now - grace) return false
      if (origin !== null && connection.origin !== origin) continue
      connection.close()
      return true
    }
    return false
  }
}
