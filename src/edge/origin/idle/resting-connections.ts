// Connections whose last response must not have a body. If anything arrives, they are closed: a faulty origin
// may send one, which would be taken for the next response.

import { guarded } from '../../../base/guarded.ts'
import type { OriginConnection } from '../origin-connection.ts'

/** After a response that announced a body, as one to HEAD does. */
const restTime = 100
/** A flood of HEAD must not take all the connections of an origin. */
const maxResting = 32

interface RestingOwner {
  rested(connection: OriginConnection): void
  crashed(bug: unknown): void
}

export class RestingConnections {
  readonly #owner: RestingOwner
  /** Those polled since are released at the end of the turn. */
  readonly #unpolled: OriginConnection[] = []
  readonly #polled: OriginConnection[] = []
  #isPlanned = false
  /** With the monotonic ms of their arrival. */
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
    return this.returningSoon + this.#forWhile.size
  }

  get returningSoon(): number {
    return this.#unpolled.length + this.#polled.length
  }

  addForTurn(connection: OriginConnection): void {
    this.#unpolled.push(connection)
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(this.#turn)
  }

  addForWhile(connection: OriginConnection, now: number): boolean {
    if (this.#forWhile.size >= maxResting) return false
    this.#forWhile.set(connection, now + restTime)
    return true
  }

  remove(connection: OriginConnection): void {
    if (this.#forWhile.delete(connection)) return
    for (const list of [this.#unpolled, this.#polled]) {
      const at = list.indexOf(connection)
      if (at !== -1) list.splice(at, 1)
    }
  }

  /** Releases those silent for long enough, after one more turn: data may still be unread. */
  sweep(now: number): void {
    for (const [connection, restedAt] of this.#forWhile) {
      if (now < restedAt) return
      this.#forWhile.delete(connection)
      this.addForTurn(connection)
    }
  }

  get oldest(): OriginConnection | undefined {
    const [connection] = this.#forWhile.keys()
    return connection
  }

  /** An immediate runs before the next poll, and one that it schedules runs after it. */
  #passTurn(): void {
    try {
      for (let next = this.#polled.pop(); next !== undefined; next = this.#polled.pop())
        this.#owner.rested(next)
    } finally {
      this.#polled.push(...this.#unpolled.splice(0))
      this.#isPlanned = this.#polled.length > 0
      if (this.#isPlanned) setImmediate(this.#turn)
    }
  }
}
