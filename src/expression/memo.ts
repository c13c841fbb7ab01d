// What is made of a text, for as long as somebody uses it: policies are compiled again and again, mostly of the same texts.

/** Remembers so many values, and of these only who is still in use elsewhere. */
export class Memo<T extends object> {
  readonly #values = new Map<string, WeakRef<T>>()
  readonly #most: number

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
    if (this.#values.size <= this.#most) return
    const [oldest] = this.#values.keys()
    this.#values.delete(oldest!)
  }
}
