// The heads that an expression's work was estimated for, and whether a request has such a head. Called by expression and -work.
import type { RequestFacts } from './expression-facts.ts'

/** How much of everything a head may have. */
export interface HeadSizes {
  /** Names of headers. */
  readonly names: number
  /** Values of one header. */
  readonly values: number
  /** Characters of one value. */
  readonly value: number
  /** Characters of the path, and of the query. */
  readonly line: number
}

/** What an expression looks at. */
export interface Reads {
  /** Whether request.country or request.asn. */
  readonly geo: boolean
  readonly path: boolean
  readonly query: boolean
  /** The headers that it names; null when it can be any. */
  readonly headers: ReadonlySet<string> | null
}

const section = 128 * 1024

export const sizes = {
  /** All heads of the usual limits. */
  largest: { names: 1000, values: 1000, value: section, line: section },
  few: { names: 128, values: 8, value: section, line: section },
  small: { names: 128, values: 8, value: 4096, line: 8192 },
} as const satisfies Readonly<Record<string, HeadSizes>>

/** Tells requests apart by what an expression reads of them; null passes all. */
export class Guard {
  readonly #reads: Reads
  readonly #most: HeadSizes
  readonly #names: readonly string[] | null

  private constructor(reads: Reads, most: HeadSizes) {
    this.#reads = reads
    this.#most = most
    this.#names = reads.headers && [...reads.headers]
  }

  static of(reads: Reads, most: HeadSizes): Guard | null {
    return most === sizes.largest ? null : new Guard(reads, most)
  }

  /** Whether a request has no more than was counted on. */
  passes(request: RequestFacts, path?: string): boolean {
    const { line } = this.#most
    if (this.#reads.path && (path ?? request.path).length > line) return false
    if (this.#reads.query && request.query.length > line) return false
    return this.#names === null ? this.#passAll(request.headers) : this.#passNamed(this.#names, request)
  }

  #passNamed(names: readonly string[], request: RequestFacts): boolean {
    for (const name of names) {
      const values = request.headers.get(name)
      if (values !== undefined && !this.#pass(values)) return false
    }
    return true
  }

  #passAll(headers: RequestFacts['headers']): boolean {
    if (headers.size > this.#most.names) return false
    for (const values of headers.values()) if (!this.#pass(values)) return false
    return true
  }

  #pass(values: readonly string[]): boolean {
    if (values.length > this.#most.values) return false
    for (const value of values) if (value.length > this.#most.value) return false
    return true
  }
}
