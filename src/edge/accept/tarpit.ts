// Connections that are held for some seconds before a byte of them is read: whoever attacks with one after the other, or with many at once, waits in between.

import type { AcceptedConnection } from '../../base/accepted-connection.ts'

/** Ms for which a connection is held, how many are at one time, and how many are released at one look, since each may go on with an attack. */
const holdTime = 5_000
const mostHeld = 256
const mostReleased = 8

export interface Held {
  readonly connection: AcceptedConnection
  readonly peer: string
  /** Monotonic ms. */
  readonly until: number
}

export class Tarpit {
  readonly #release: (held: Held) => void
  /** In the order in which they came. */
  readonly #held: Held[] = []

  constructor(release: (held: Held) => void) {
    this.#release = release
  }

  get isFull(): boolean {
    return this.#held.length >= mostHeld
  }

  /** Holds a connection from monotonic ms `now` on. */
  hold(connection: AcceptedConnection, peer: string, now: number): void {
    this.#held.push({ connection, peer, until: now + holdTime })
  }

  /** Releases some of those whose time is over by monotonic ms `now`. */
  sweep(now: number): void {
    for (let left = mostReleased; left > 0; left--) {
      if (this.#held.length === 0 || now < this.#held[0]!.until) return
      this.#release(this.#held.shift()!)
    }
  }

  /** Takes out all that are held. */
  empty(): readonly Held[] {
    return this.#held.splice(0)
  }
}
