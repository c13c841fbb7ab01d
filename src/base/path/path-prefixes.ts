// Sets of path prefixes, however many, looked up at the borders of segments.

import { isBorder } from './path.ts'

export class PathPrefixes {
  readonly #prefixes: ReadonlySet<string>
  readonly #lengths: readonly number[]

  constructor(prefixes: Iterable<string>) {
    this.#prefixes = new Set(prefixes)
    this.#lengths = [...new Set(Array.from(this.#prefixes, prefix => prefix.length))]
  }

  /** The texts that a look-up takes from its table at most. */
  get lookups(): number {
    return this.#lengths.length
  }

  /** Whether one of them leads a path in normal form, in the sense of `leads`. */
  lead(path: string): boolean {
    for (const length of this.#lengths)
      if (isBorder(path, length) && this.#prefixes.has(path.slice(0, length))) return true
    return false
  }
}
