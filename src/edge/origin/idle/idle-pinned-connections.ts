// The idle connections of a process to its origins that each belong to one client: which of them makes room for a request that has no connection.

import { longestIdle } from './idle-connections.ts'
import type { PinnedConnection } from '../lease.ts'

/** Ms for which such a connection is left to its client: the next message of a handshake must find it. */
const grace = 1_000

export class IdlePinned {
  /** With the monotonic ms at which each came back; the eldest is the first. */
  readonly #since = new Map<PinnedConnection, number>()

  /** Adds one from monotonic ms `now` on. It may wait for as long as its origin grants, since its client would have to authenticate again on another one. */
  add(connection: PinnedConnection, now: number): void {
    const granted = connection.grantedIdle === -1 ? longestIdle : connection.grantedIdle
    connection.deadline = now + Math.min(granted, longestIdle)
    this.#since.set(connection, now)
  }

  has(connection: PinnedConnection): boolean {
    return this.#since.has(connection)
  }

  /** Takes out one that is in use again, or has closed; false where it was not idle. */
  delete(connection: PinnedConnection): boolean {
    return this.#since.delete(connection)
  }

  get size(): number {
    return this.#since.size
  }

  /** Closes the one that has been idle longest, however long that is: they are not to take more file descriptors than they leave. */
  closeFirst(): void {
    this.#since.keys().next().value?.close()
  }

  /** Closes the one that has been idle longest, of one origin or of all, where that is long enough by monotonic ms `now`; false where there is none. */
  closeEldest(now: number, origin: object | null): boolean {
    for (const [connection, since] of this.#since) {
      if (since > now - grace) return false
      if (origin !== null && connection.origin !== origin) continue
      connection.close()
      return true
    }
    return false
  }
}
