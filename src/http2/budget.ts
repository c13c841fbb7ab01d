// How much of what costs us, and means nothing, one connection may send: some at once, and some a second.

/** Resets of requests that a client may cause, at once and a second. */
const resets = { most: 200, perSecond: 33 }
/** Frames that carry nothing, likewise. */
const controlFrames = { most: 2_000, perSecond: 100 }

/** The budgets of a connection, or of several of one client. */
export class Budgets {
  readonly resets: Budget
  readonly controlFrames: Budget

  /** Begins full, at monotonic ms `now`. */
  constructor(now: number) {
    this.resets = new Budget(resets.most, resets.perSecond, now)
    this.controlFrames = new Budget(controlFrames.most, controlFrames.perSecond, now)
  }
}

/** So much at once, and so much a second. */
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
    this.#refill(now)
    if (this.#left < 1) return false
    this.#left--
    return true
  }

  /** Returns how much of it is spent. */
  spent(now: number): number {
    this.#refill(now)
    return this.#most - this.#left
  }

  /** Takes so much; false, and nothing is left, where there is less. */
  charge(amount: number, now: number): boolean {
    this.#refill(now)
    const left = this.#left - amount
    this.#left = Math.max(0, left)
    return left >= 0
  }

  /** Puts back what honest work is good for. */
  earn(amount: number): void {
    this.#left = Math.min(this.#most, this.#left + amount)
  }
  /** Each time, since what comes while it is full is lost: whoever waited would have twice as much at once. */
  #refill(now: number): void {
    if (now === this.#filledAt) return
    this.#left = Math.min(this.#most, this.#left + (now - this.#filledAt) * this.#perMs)
    this.#filledAt = now
  }
}
