// How much of what costs us, and means nothing, one connection may send: some at once, and some a second.

export class Budget {
  readonly #most: number
  readonly #perMs: number
  #left: number
  #filledAt: number

  /** Begins full, at monotonic ms `now`. */
  constructor(most: number, perSecond: number, now: number) {
    this.#most = most
    this.#perMs = perSecond / 1000
    this.#left = most
    this.#filledAt = now
  }

  /** Takes one; false where nothing is left. */
  spend(now: number): boolean {
    if (this.#left < 1) {
      this.#left = Math.min(this.#most, this.#left + (now - this.#filledAt) * this.#perMs)
      this.#filledAt = now
    }
    return --this.#left >= 0
  }

  /** Puts back what honest work is good for. */
  earn(amount: number): void {
    this.#left = Math.min(this.#most, this.#left + amount)
  }
}
