// The idle connections to an origin: which one serves next, and how long the others are kept.

import type { OriginConnection } from '../origin-connection.ts'

/** Ms for which an idle connection is kept when the origin does not say; servers commonly close theirs after 5 s. */
const defaultIdle = 4_000
export const longestIdle = 60_000
/** Ms by which we close before the origin said it would, so that no request meets its closing. */
const idleMargin = 1_000

export class IdleConnections {
  /** The latest returned is the first taken: the rest may grow cold and close. */
  readonly #connections: OriginConnection[] = []

  get size(): number {
    return this.#connections.length
  }

  /** Takes out the one that came back last; undefined for none. */
  take(): OriginConnection | undefined {
    return this.#connections.pop()
  }

  /** Takes out the one that has been idle longest; undefined for none. */
  takeEldest(): OriginConnection | undefined {
    return this.#connections.shift()
  }

  /** Keeps a connection from monotonic ms `now` on; false where its origin is about to close it. */
  keep(connection: OriginConnection, now: number): boolean {
    const granted = connection.grantedIdle === -1 ? defaultIdle : connection.grantedIdle - idleMargin
    if (granted <= 0) return false
    connection.deadline = now + Math.min(granted, longestIdle)
    connection.isReused = true
    this.#connections.push(connection)
    return true
  }

  /** Takes out one that has closed; false where it was not idle. */
  remove(connection: OriginConnection): boolean {
    const at = this.#connections.indexOf(connection)
    if (at === -1) return false
    this.#connections.splice(at, 1)
    return true
  }

  /** Takes out all of them. */
  takeAll(): readonly OriginConnection[] {
    return this.#connections.splice(0)
  }

  /** Lists those that lead where the name of the origin no longer does. */
  outdated(): readonly OriginConnection[] {
    return this.#connections.filter(({ isOutdated }) => isOutdated)
  }
}
