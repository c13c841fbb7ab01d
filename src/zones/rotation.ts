// Values that are taken in turn, such as the keys of an AI provider. Called by the edge.

export class Rotation<T> {
  readonly #values: readonly T[]
  #turn = 0

  constructor(values: readonly T[]) {
    this.#values = values
  }

  /** Gives the value whose turn it is; null where there are none. */
  next(): T | null {
    if (this.#values.length === 0) return null
    if (this.#turn >= this.#values.length) this.#turn = 0
    return this.#values[this.#turn++]!
  }
}
