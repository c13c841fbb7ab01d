// The idle connections to an origin: which one is used next, and how long the others are kept.

import type { OriginConnection } from '../origin-connection.ts'

/** Servers commonly close theirs after 5 s. */
const defaultIdle = 4_000
export const maxIdle = 60_000
/** Before the close that the origin announced. */
const idleMargin = 1_000

export class IdleConnections {
  /** Last in, first out, so that unneeded connections are closed. */
  readonly #connections: OriginConnection[] = []

  get size(): number {
    return this.#connections.length
  }

  take(): OriginConnection | undefined {
    return this.#connections.pop()
  }

  takeOldest(): OriginConnection | undefined {
    return this.#connections.shift()
  }

  /** False if its origin is about to close it. */
  keep(connection: OriginConnection, now: number): boolean {
    const granted = connection.grantedIdle === -1 ? defaultIdle : connection.grantedIdle - idleMargin
    if (granted <= 0) return false
    connection.deadline = now + Math.min(granted, maxIdle)
    connection.isReused = true
    this.#connections.push(connection)
    return true
  }

  remove(connection: OriginConnection): boolean {
    const at = this.#connections.indexOf(connection)
    if (at === -1) return false
    this.#connections.splice(at, 1)
    return true
  }

  takeAll(): readonly OriginConnection[] {
    return this.#connections.splice(0)
  }

  outdated(): readonly OriginConnection[] {
    return this.#connections.filter(({ isOutdated }) => isOutdated)
  }
}
