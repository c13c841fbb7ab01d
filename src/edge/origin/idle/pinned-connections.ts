// The idle origin connections that are pinned to one client connection, for its authentication.

import type { ConnectionHolder, PinnedConnection } from '../lease.ts'

/** As many as browsers open to one host. */
const maxIdle = 6

export class PinnedConnections implements ConnectionHolder {
  readonly #idle: PinnedConnection[] = []
  #isClosed = false

  leadsTo(origin: object, clientAddress: string): boolean {
    return this.#find(origin, clientAddress) !== -1
  }

  take(origin: object, clientAddress: string): PinnedConnection | null {
    const at = this.#find(origin, clientAddress)
    return at === -1 ? null : this.#idle.splice(at, 1)[0]!
  }

  keep(connection: PinnedConnection): boolean {
    if (this.#isClosed) return false
    if (this.#idle.push(connection) > maxIdle) this.#idle[0]!.close()
    return true
  }

  remove(connection: PinnedConnection): void {
    const at = this.#idle.indexOf(connection)
    if (at !== -1) this.#idle.splice(at, 1)
  }

  /** Those in use close when they are returned. */
  close(): void {
    this.#isClosed = true
    for (const connection of this.#idle.splice(0)) connection.close()
  }

  #find(origin: object, clientAddress: string): number {
    return this.#idle.findLastIndex(one => one.origin === origin && one.clientAddress === clientAddress)
  }
}
