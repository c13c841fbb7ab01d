// Connections whose last response must have no body and could be followed by one all the same: a faulty origin sends it in a packet of its own, and the
// next request would take it for its response. They are listened to before they serve again; whatever comes meanwhile closes them.

import { guarded } from '../../../base/guarded.ts'
import type { OriginConnection } from '../origin-connection.ts'

/** Ms for which a connection is listened to whose response announced a body, as that to a HEAD does; the next sweep ends them. */
const longWhile = 100
/** How many of those there may be: a flood of HEAD must not take all the connections that an origin can hold. */
const most = 32

interface RestingOwner {
  /** Takes a connection that was silent. */
  rested(connection: OriginConnection): void
  /** Takes a bug of ours. */
  crashed(bug: unknown): void
}

export class Resting {
  readonly #owner: RestingOwner
  /** Those that the loop has not polled since they came, and those that it has, by the end of the turn. */
  readonly #unpolled: OriginConnection[] = []
  readonly #polled: OriginConnection[] = []
  #isTurning = false
  /** With the monotonic ms at which each is rested. */
  readonly #forWhile = new Map<OriginConnection, number>()
  readonly #turn: () => void

  constructor(owner: RestingOwner) {
    this.#owner = owner
    this.#turn = guarded(
      () => this.#passTurn(),
      bug => owner.crashed(bug),
    )
  }

  get size(): number {
    return this.soon + this.#forWhile.size
  }

  /** Counts those that are back within a turn. */
  get soon(): number {
    return this.#unpolled.length + this.#polled.length
  }

  /** Listens until the loop has polled for events once more. One turn serves all that came before it. */
  addForTurn(connection: OriginConnection): void {
    this.#unpolled.push(connection)
    if (this.#isTurning) return
    this.#isTurning = true
    setImmediate(this.#turn)
  }

  /** Listens for a while; false where too many are listened to. */
  addForWhile(connection: OriginConnection, now: number): boolean {
    if (this.#forWhile.size >= most) return false
    this.#forWhile.set(connection, now + longWhile)
    return true
  }

  /** Takes out one that has closed. */
  remove(connection: OriginConnection): void {
    if (this.#forWhile.delete(connection)) return
    for (const list of [this.#unpolled, this.#polled]) {
      const at = list.indexOf(connection)
      if (at !== -1) list.splice(at, 1)
    }
  }

  /** Lets those that were silent for long enough go, behind one more turn: what came during a stall is yet to be read. */
  sweep(now: number): void {
    for (const [connection, restedAt] of this.#forWhile) {
      if (now < restedAt) return
      this.#forWhile.delete(connection)
      this.addForTurn(connection)
    }
  }

  /** The one that has rested longest of those that rest for long; undefined for none. */
  get eldest(): OriginConnection | undefined {
    const [connection] = this.#forWhile.keys()
    return connection
  }

  /** An immediate runs before the next poll, and one that it sets runs behind it. */
  #passTurn(): void {
    try {
      for (let next = this.#polled.pop(); next !== undefined; next = this.#polled.pop())
        this.#owner.rested(next)
    } finally {
      this.#polled.push(...this.#unpolled.splice(0))
      this.#isTurning = this.#polled.length > 0
      if (this.#isTurning) setImmediate(this.#turn)
    }
  }
}
