// Turns by weight, spread evenly: of the weights 5, 1 and 1, the first gets five of seven turns, but never
// all five in a row.

/** Takes turns: all participants `enter`, then one of them is `take`n. */
export class Turns {
  /** How far each is ahead (+) or behind (-): an entry earns its weight, a turn costs all entered weights. */
  readonly #credits: Float64Array
  #first = -1
  #total = 0

  constructor(count: number) {
    this.#credits = new Float64Array(count)
  }

  copy(): Turns {
    const copy = new Turns(this.#credits.length)
    copy.#credits.set(this.#credits)
    return copy
  }

  enter(index: number, weight: number): void {
    const credits = this.#credits
    credits[index]! += weight
    this.#total += weight
    if (this.#first === -1 || credits[index]! > credits[this.#first]!) this.#first = index
  }

  /** Returns the index of the next one; -1 if none entered. */
  take(): number {
    const first = this.#first
    if (first !== -1) this.#credits[first]! -= this.#total
    this.#first = -1
    this.#total = 0
    return first
  }
}
