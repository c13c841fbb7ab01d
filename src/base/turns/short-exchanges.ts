// Exchanges that will be over in a moment, for which long work waits.

/** Ms after the start of the latest exchange, after which all of them count as long. */
const short = 2

class ShortExchanges {
  #count = 0
  /** Incremented when all current exchanges turn out to be long; they no longer count then. */
  #round = 1
  #latest = 0
  #hasMoved = false
  free: (() => void) | null = null

  get count(): number {
    return this.#count
  }

  /** At monotonic ms; returns the argument for `passed`. */
  begin(now: number): number {
    this.#count++
    this.#latest = now
    this.#hasMoved = true
    return this.#round
  }

  passed(round: number): void {
    this.#hasMoved = true
    if (round === this.#round && --this.#count === 0) this.free?.()
  }

  haveMoved(): boolean {
    const hasMoved = this.#hasMoved
    this.#hasMoved = false
    return hasMoved
  }

  /** Ms that others should wait, unless `free` is called before. */
  wait(now: number): number {
    if (this.#count === 0) return 0
    const left = this.#latest + short - now
    if (left > 0) return Math.min(left, short)
    this.#round++
    this.#count = 0
    return 0
  }
}

export const shortExchanges = new ShortExchanges()
