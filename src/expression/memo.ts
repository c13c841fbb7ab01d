// What is made of a text, for as long as somebody uses it: policies are compiled again and again, mostly of the same texts.

/** The fewest values that are set between two sweeps. */
const fewest = 32

/** Remembers so many values, and of these only who is still in use elsewhere. */
export class Memo<T extends object> {
  readonly #values = new Map<string, WeakRef<T>>()
  readonly #most: number
  /** How many values are to be set until those that nobody uses are forgotten. */
  #untilSweep = fewest

  constructor(most: number) {
    this.#most = most
  }

  get(key: string): T | undefined {
    return this.#values.get(key)?.deref()
  }

  /** Forgets the oldest where there are too many. */
  set(key: string, value: T): void {
    this.#values.delete(key)
    this.#values.set(key, new WeakRef(value))
    if (--this.#untilSweep === 0) this.#sweep()
    if (this.#values.size <= this.#most) return
    const [oldest] = this.#values.keys()
    this.#values.delete(oldest!)
  }

  /** Forgets the texts of what nobody uses, and waits as long for the next time as this took. */
  #sweep(): void {
    for (const [key, value] of this.#values) if (value.deref() === undefined) this.#values.delete(key)
    this.#untilSweep = Math.max(fewest, this.#values.size)
  }
}
