// Sets of any number of path prefixes, looked up at the boundaries of segments.

import { isBorder } from './path.ts'

export class PathPrefixes {
  readonly #prefixes: ReadonlySet<string>
  readonly #lengths: readonly number[]

  constructor(prefixes: Iterable<string>) {
    this.#prefixes = new Set(prefixes)
    this.#lengths = [...new Set(Array.from(this.#prefixes, prefix => prefix.length))]
  }

  get lookups(): number {
    return this.#lengths.length
  }

  /** Whether one of them leads a normalized path, as defined by `leads`. */
  lead(path: string): boolean {
    for (const length of this.#lengths)
      if (isBorder(path, length) && this.#prefixes.has(path.slice(0, length))) return true
    return false
  }
}
