// Marks windows of time by the segments that reach into them: any change of such a segment changes the mark.

import type { LogMark, LogWindows } from '../../contract/store.ts'
import type { Span } from './shown-times.ts'

/** Prime numbers by which hashes are mixed, as FNV-1a and MurmurHash3 do. */
const fnvPrime = 0x01000193
const murmurPrime = 0x85ebca6b

export class WindowMarks {
  readonly #windows: LogWindows
  /** Two hashes of 32 bits each, and how many entries there are at most. */
  readonly #one: Int32Array
  readonly #other: Int32Array
  readonly #most: Float64Array
  readonly #numbers = new Float64Array(6)
  readonly #words = new Int32Array(this.#numbers.buffer)

  constructor(windows: LogWindows) {
    this.#windows = windows
    this.#one = new Int32Array(windows.count).fill(0x811c9dc5)
    this.#other = new Int32Array(windows.count)
    this.#most = new Float64Array(windows.count)
  }

  /** Adds a segment; they come in the same order each time. */
  add({ key, revision, count, held, earliest, latest }: Span): void {
    const { since, width, count: windows } = this.#windows
    const first = Math.max(0, Math.floor((earliest - since) / width))
    const last = Math.min(windows - 1, Math.floor((latest - since) / width))
    if (first > last) return
    this.#numbers.set([key, revision, count, held, earliest, latest])
    let [one, other] = [0x811c9dc5 | 0, 0]
    for (const word of this.#words) {
      one = Math.imul(one ^ word, fnvPrime)
      one ^= one >>> 15
      other = Math.imul(other + word, murmurPrime)
      other ^= other >>> 13
    }
    for (let at = first; at <= last; at++) {
      this.#one[at] = Math.imul(this.#one[at]! ^ one, fnvPrime)
      this.#other[at] = Math.imul(this.#other[at]! + other, murmurPrime) ^ (other >>> 16)
      this.#most[at]! += count
    }
  }

  take(): readonly LogMark[] {
    return Array.from(this.#most, (most, at) => ({
      mark: most === 0 ? '' : `${this.#one[at]} ${this.#other[at]}`,
      most,
    }))
  }
}
