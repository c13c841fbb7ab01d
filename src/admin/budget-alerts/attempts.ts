// The attempts to deliver alerts that are under way, so that receivers that hang hold up no others.

interface AttemptLimits {
  readonly max: number
  readonly maxOfAccount: number
}

export class Attempts {
  readonly #limits: AttemptLimits
  readonly #placesOf = new Map<string, number>()
  readonly #running = new Set<Promise<void>>()
  #places = 0

  constructor(limits: AttemptLimits) {
    this.#limits = limits
  }

  /** Takes places, at most half of those that are left to the account, and returns how many. */
  take(account: string, wanted: number): number {
    const { max, maxOfAccount } = this.#limits
    const own = this.#placesOf.get(account) ?? 0
    const rest = Math.min(max - this.#places, Math.ceil((maxOfAccount - own) / 2))
    const count = Math.max(0, Math.min(wanted, rest))
    this.#change(account, count)
    return count
  }

  giveBack(account: string, count: number): void {
    this.#change(account, -count)
  }

  /** Begins an attempt, which gives one place back when it is over. */
  begin(account: string, attempt: Promise<void>): void {
    const running = attempt.finally(() => {
      this.#running.delete(running)
      this.giveBack(account, 1)
    })
    this.#running.add(running)
  }

  /** Resolves once those that have begun are over. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running)
  }

  #change(account: string, change: number): void {
    this.#places += change
    const own = (this.#placesOf.get(account) ?? 0) + change
    if (own > 0) this.#placesOf.set(account, own)
    else this.#placesOf.delete(account)
  }
}
