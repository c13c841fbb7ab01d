// A cache of values that are in use: policies are compiled again and again, mostly from the same texts.

const minSets = 32

/** Caches up to a number of values, and of these only those still in use elsewhere. */
export class Memo<T extends object> {
  readonly #values = new Map<string, WeakRef<T>>()
  readonly #max: number
  #untilSweep = minSets

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): T | undefined {
    return this.#values.get(key)?.deref()
  }

  set(key: string, value: T): void {
    this.#values.delete(key)
    this.#values.set(key, new WeakRef(value))
    if (--this.#untilSweep === 0) this.#sweep()
    if (this.#values.size <= this.#max) return
    const [oldest] = this.#values.keys()
    this.#values.delete(oldest!)
  }

  /** Removes the texts of unused values; the next sweep follows after as many sets as this one examined. */
  #sweep(): void {
    for (const [key, value] of this.#values) if (value.deref() === undefined) this.#values.delete(key)
    this.#untilSweep = Math.max(minSets, this.#values.size)
  }
}
