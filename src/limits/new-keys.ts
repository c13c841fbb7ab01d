// Bounds the new keys in the store: clients can make them up, and each is kept for a whole period.

import type { Limit } from './limit.ts'

const perSecond = 1_000
/** For limits of a day or a month: about half a gigabyte on disk. */
const perPeriod = 1_000_000

export class NewKeys {
  readonly #rooms = new WeakMap<Limit, Room>()

  take(limit: Limit, now: number): boolean {
    let room = this.#rooms.get(limit)
    if (room === undefined) this.#rooms.set(limit, (room = new Room(limit.period)))
    return room.take(now)
  }
}

class Room {
  readonly #period: number
  #inSecond = 0
  #secondEndsAt = Number.NEGATIVE_INFINITY
  #inPeriod = 0
  #periodEndsAt = Number.NEGATIVE_INFINITY

  constructor(period: number) {
    this.#period = period
  }

  take(now: number): boolean {
    if (now >= this.#secondEndsAt) [this.#inSecond, this.#secondEndsAt] = [0, now + 1_000]
    if (now >= this.#periodEndsAt) [this.#inPeriod, this.#periodEndsAt] = [0, now + this.#period]
    if (this.#inSecond === perSecond || this.#inPeriod === perPeriod) return false
    this.#inSecond++
    this.#inPeriod++
    return true
  }
}
