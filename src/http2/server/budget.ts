// How much of what costs us, and means nothing, one connection may send: some at once, and some a second.

/** Resets of requests that a client may cause, at once and a second. */
const resets = { most: 200, perSecond: 33 }
/** Frames that carry nothing, likewise. */
const controlFrames = { most: 2_000, perSecond: 100 }

/** The budgets of a connection, or of several of one client. */
export class Budgets {
  readonly resets: Budget
  readonly controlFrames: Budget

  /** Begins full, at monotonic ms `now`, with so many times as much as a connection has. */
  constructor(now: number, times = 1) {
    this.resets = new Budget(times * resets.most, times * resets.perSecond, now)
    this.controlFrames = new Budget(times * controlFrames.most, times * controlFrames.perSecond, now)
  }
}

/** So much at once, and so much a second. */
export class Budget {
  readonly #most: number
  readonly #perMs: number
  #left: number
  #filledAt: number
  /** Of what is spent, how much was taken note of. */
  #noted = 0

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

  /** Returns how much more is spent than was taken note of before, and takes note of it; 0 where it is less than `least`. */
  note(least: number, now: number): number {
    this.#refill(now)
    const spent = this.#most - this.#left
    this.#noted = Math.min(this.#noted, spent)
    const more = spent - this.#noted
    if (more < least) return 0
    this.#noted = spent
    return more
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
