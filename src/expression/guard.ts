// How large what an expression reads of a request is, and what the expression can cost then.

import type { RequestFacts } from './facts.ts'
import { usual } from './work-budget.ts'

/** How much of everything a head may have. */
export interface HeadSizes {
  /** Characters of the path, of the query and of the longest value of a header. */
  readonly text: number
  /** Characters that all other values have on average. */
  readonly others: number
  /** Names of headers. */
  readonly names: number
  /** Values of a header, and of all headers beside the first of each. */
  readonly values: number
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

/** The heads for which expressions are priced; the last is larger than any that `limits` let in. */
export const scales: readonly HeadSizes[] = [
  { text: 0, others: 32, names: 16, values: 2 },
  { text: usual.text, others: 64, names: usual.names, values: usual.values },
  { text: 2048, others: 128, names: 64, values: 8 },
  { text: 8192, others: 128, names: 128, values: 32 },
  { text: 32 * 1024, others: 256, names: 256, values: 128 },
  { text: 1024 * 1024, others: 1024, names: 1000, values: 1000 },
]
/** The scale of what is usual. */
export const usualScale = 1

/** Returns what an expression can cost at a request. */
export class Guard {
  readonly #reads: Reads
  readonly #costs: readonly number[]
  readonly #names: readonly string[] | null
  /** The largest of what was measured last. */
  #text = 0
  #scale = 0

  /** Takes the steps that the expression takes at most, by scale. */
  constructor(reads: Reads, costs: readonly number[]) {
    this.#reads = reads
    this.#costs = costs
    this.#names = reads.headers && [...reads.headers]
  }

  /** Returns the most steps that an evaluation takes. */
  costOf(request: RequestFacts, path?: string): number {
    this.#text = 0
    this.#scale = 0
    if (this.#reads.path) this.#text = (path ?? request.path).length
    if (this.#reads.query) this.#text = Math.max(this.#text, request.query.length)
    if (this.#names === null) this.#measureAll(request.headers)
    else this.#measureNamed(this.#names, request)
    return this.#cost()
  }

  #measureNamed(names: readonly string[], request: RequestFacts): void {
    for (const name of names) {
      const values = request.headers.get(name)
      if (values !== undefined) this.#fit(1, values.length, this.#measure(values))
    }
  }

  #measureAll(headers: RequestFacts['headers']): void {
    let values = 0
    let characters = 0
    for (const of of headers.values()) {
      values += of.length - 1
      characters += this.#measure(of)
    }
    this.#fit(headers.size, values, characters)
  }

  /** Counts characters, and finds the longest text. */
  #measure(values: readonly string[]): number {
    let characters = 0
    for (const { length } of values) {
      characters += length
      if (length > this.#text) this.#text = length
    }
    return characters
  }

  /** Finds the first scale that has room for so much beside the longest text. */
  #fit(names: number, values: number, characters: number): void {
    const last = scales.length - 1
    while (this.#scale < last && !hasRoom(scales[this.#scale]!, names, values, characters - this.#text))
      this.#scale++
  }

  /** Finds the cost between two scales, since it grows with the text at least as fast as the text. */
  #cost(): number {
    let scale = this.#scale
    while (scale < scales.length - 1 && scales[scale]!.text < this.#text) scale++
    const cost = this.#costs[scale]!
    if (scale === this.#scale) return cost
    const below = this.#costs[scale - 1]!
    const from = scales[scale - 1]!.text
    return below + ((cost - below) * (this.#text - from)) / (scales[scale]!.text - from)
  }
}

function hasRoom(scale: HeadSizes, names: number, values: number, others: number): boolean {
  return names <= scale.names && values <= scale.values && others <= (names + values) * scale.others
}
