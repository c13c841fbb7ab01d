// Holds new connections of penalised addresses before a byte of them is read. The newest is released first: an attacker
// has many waiting, while another client at the same address has one.

/** Ms for which a connection is held at most, and how many are at one time. */
const holdTime = 5_000
const mostHeld = 256

/** A connection that can go on or end. */
interface Waiting {
  serve(): void
  /** Ends it with a reset. */
  reset(): void
}

export interface Held {
  readonly connection: Waiting
  readonly peer: string
  /** Whether it counts under the limits for as long as it is held. */
  readonly isCounted: boolean
}

export class Tarpit {
  /** In the order in which they came, each with the monotonic ms by which it ends. */
  readonly #held = new Map<Held, number>()

  /** Holds a connection from monotonic ms `now` on; returns the oldest where that is one too many. */
  hold(held: Held, now: number): Held | undefined {
    this.#held.set(held, now + holdTime)
    if (this.#held.size <= mostHeld) return
    const [oldest] = this.#held.keys()
    this.#held.delete(oldest!)
    return oldest
  }

  /** Takes out the newest, at most so many, that may go on. */
  release(most: number, mayGoOn: (held: Held) => boolean): readonly Held[] {
    if (this.#held.size === 0) return []
    const released: Held[] = []
    for (const held of [...this.#held.keys()].toReversed()) {
      if (released.length === most) break
      if (!mayGoOn(held)) continue
      this.#held.delete(held)
      released.push(held)
    }
    return released
  }

  /** Takes out those whose time is over by monotonic ms `now`. */
  expire(now: number): readonly Held[] {
    const over: Held[] = []
    for (const [held, until] of this.#held) {
      if (now < until) break
      this.#held.delete(held)
      over.push(held)
    }
    return over
  }

  /** Takes out all that are held. */
  empty(): readonly Held[] {
    const all = [...this.#held.keys()]
    this.#held.clear()
    return all
  }
}
