// How many resets and frames that carry nothing one connection may send: some at once, and some a second.

const resets = { max: 200, perSecond: 33 }
const controlFrames = { max: 2_000, perSecond: 100 }

export class Budgets {
  readonly resets: Budget
  readonly controlFrames: Budget

  /** Full at monotonic ms `now`; `times` that of one connection. */
  constructor(now: number, times = 1) {
    this.resets = new Budget(times * resets.max, times * resets.perSecond, now)
    this.controlFrames = new Budget(times * controlFrames.max, times * controlFrames.perSecond, now)
  }
}

export class Budget {
  readonly #max: number
  readonly #perMs: number
  #left: number
  #filledAt: number
  #noted = 0

  constructor(max: number, perSecond: number, now: number) {
    this.#max = max
    this.#perMs = perSecond / 1000
    this.#left = max
    this.#filledAt = now
  }

  spend(now: number): boolean {
    this.#refill(now)
    if (this.#left < 1) return false
    this.#left--
    return true
  }

  /** Returns how much was spent since the last call that returned more than 0; 0 if less than `minSpent`. */
  note(minSpent: number, now: number): number {
    this.#refill(now)
    const spent = this.#max - this.#left
    this.#noted = Math.min(this.#noted, spent)
    const more = spent - this.#noted
    if (more < minSpent) return 0
    this.#noted = spent
    return more
  }

  /** Takes an amount; returns false, and leaves nothing, if less is left. */
  charge(amount: number, now: number): boolean {
    this.#refill(now)
    const left = this.#left - amount
    this.#left = Math.max(0, left)
    return left >= 0
  }

  earn(amount: number): void {
    this.#left = Math.min(this.#max, this.#left + amount)
  }

  /** What a full budget earns is lost: otherwise a client that waited could spend twice as much at once. */
  #refill(now: number): void {
    this.#left = Math.min(this.#max, this.#left + (now - this.#filledAt) * this.#perMs)
    this.#filledAt = now
  }
}
