// For what may happen a thousand times a second and should stand in the log once a minute.

/** Ms for which the same is not told again. */
const quiet = 60_000

export class Seldom {
  #quietUntil = Number.NEGATIVE_INFINITY
  #untold = 0

  /** Counts one; returns how many there were since the last that was told, itself included, or 0 while nothing is to be told. */
  take(now: number): number {
    this.#untold++
    if (now < this.#quietUntil) return 0
    this.#quietUntil = now + quiet
    const count = this.#untold
    this.#untold = 0
    return count
  }
}
