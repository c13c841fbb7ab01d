// The idle connections to origins that belong to one connection of a client alone, since they are authenticated, or about to be. They end with it.

import type { ConnectionHolder, PinnedConnection } from '../lease.ts'

/** The most that wait for one client: as many as browsers open to one host. */
const mostIdle = 6

export class PinnedConnections implements ConnectionHolder {
  /** The latest returned is the last. */
  readonly #idle: PinnedConnection[] = []
  #isClosed = false

  /** Whether one leads to that origin, for the client at that address. */
  leadsTo(origin: object, clientAddress: string): boolean {
    return this.#find(origin, clientAddress) !== -1
  }

  /** Takes out the one that came back last of those that lead to that origin, for the client at that address; null for none. */
  take(origin: object, clientAddress: string): PinnedConnection | null {
    const at = this.#find(origin, clientAddress)
    return at === -1 ? null : this.#idle.splice(at, 1)[0]!
  }

  keep(connection: PinnedConnection): boolean {
    if (this.#isClosed) return false
    if (this.#idle.push(connection) > mostIdle) this.#idle[0]!.close()
    return true
  }

  remove(connection: PinnedConnection): void {
    const at = this.#idle.indexOf(connection)
    if (at !== -1) this.#idle.splice(at, 1)
  }

  /** Closes all: the client has left. Those that are in use close as they come back. */
  close(): void {
    this.#isClosed = true
    for (const connection of this.#idle.splice(0)) connection.close()
  }

  #find(origin: object, clientAddress: string): number {
    return this.#idle.findLastIndex(one => one.origin === origin && one.clientAddress === clientAddress)
  }
}
