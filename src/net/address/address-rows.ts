// Networks of one family in typed arrays, which can be sorted and stripped of those that others contain.

/** Rows between two pauses. */
const step = 16_384

export class AddressRows {
  readonly width: number
  count = 0
  starts: Uint32Array
  prefixes: Uint8Array

  constructor(width: 1 | 4, capacity = 4) {
    this.width = width
    this.starts = new Uint32Array(width * capacity)
    this.prefixes = new Uint8Array(capacity)
  }

  /** Bits behind the prefix count as 0. */
  add(words: Uint32Array, prefix: number): void {
    if (this.count === this.prefixes.length) this.#grow()
    const { starts, width, count } = this
    for (let i = 0; i < width; i++) starts[width * count + i] = words[i]! & maskOf(prefix - 32 * i)
    this.prefixes[count] = prefix
    this.count++
  }

  /** In as few rows as possible, in ascending order; to be run in steps. */
  *sorted(): Generator<void, AddressRows> {
    return yield* this.#outermost(yield* this.#order())
  }

  /** The row whose network contains an address, in sorted rows; -1 for none. */
  find(words: Uint32Array): number {
    const { starts, width } = this
    let from = 0
    let to = this.count
    while (from < to) {
      const middle = (from + to) >>> 1
      if (isAbove(starts, width * middle, words, width)) to = middle
      else from = middle + 1
    }
    const row = from - 1
    return row !== -1 && agree(starts, width * row, words, 0, this.prefixes[row]!) ? row : -1
  }

  #grow(): void {
    const { starts, prefixes } = this
    this.starts = new Uint32Array(2 * starts.length)
    this.starts.set(starts)
    this.prefixes = new Uint8Array(2 * prefixes.length)
    this.prefixes.set(prefixes)
  }

  /** By ascending start: a radix sort, which divides into steps and moves only row numbers. */
  *#order(): Generator<void, Uint32Array> {
    let order = new Uint32Array(this.count)
    let next = new Uint32Array(this.count)
    for (let row = 0; row < this.count; row++) order[row] = row
    for (let word = this.width - 1; word >= 0; word--) {
      for (let shift = 0; shift < 32; shift += 8) {
        const places = yield* this.#placesBy(word, shift)
        if (places === null) continue
        yield* this.#pass(order, next, word, shift, places)
        const spare = order
        order = next
        next = spare
      }
    }
    return order
  }

  /** Where the rows of each value of a byte begin; null if all have the same value. */
  *#placesBy(word: number, shift: number): Generator<void, Uint32Array | null> {
    const { starts, width, count } = this
    const counts = new Uint32Array(256)
    for (let row = 0; row < count; row++) {
      counts[(starts[width * row + word]! >>> shift) & 0xff]!++
      if (row % step === step - 1) yield
    }
    let place = 0
    for (let value = 0; value < 256; value++) {
      const rows = counts[value]!
      if (rows === count) return null
      counts[value] = place
      place += rows
    }
    return counts
  }

  *#pass(
    order: Uint32Array,
    next: Uint32Array,
    word: number,
    shift: number,
    places: Uint32Array,
  ): Generator<void, void> {
    const { starts, width, count } = this
    for (let i = 0; i < count; i++) {
      const row = order[i]!
      next[places[(starts[width * row + word]! >>> shift) & 0xff]!++] = row
      if (i % step === step - 1) yield
    }
  }

  /** Networks are either nested or disjoint. */
  *#outermost(order: Uint32Array): Generator<void, AddressRows> {
    const { starts, prefixes, width, count } = this
    const outermost = new AddressRows(width as 1 | 4, count)
    for (let i = 0; i < count; i++) {
      if (i % step === step - 1) yield
      const row = order[i]!
      const prefix = prefixes[row]!
      const last = outermost.count - 1
      const shorter = last === -1 ? 0 : Math.min(prefix, outermost.prefixes[last]!)
      if (last !== -1 && agree(outermost.starts, width * last, starts, width * row, shorter))
        outermost.prefixes[last] = shorter
      else outermost.add(starts.subarray(width * row, width * row + width), prefix)
    }
    return outermost.#cut()
  }

  #cut(): this {
    this.starts = this.starts.slice(0, this.width * this.count)
    this.prefixes = this.prefixes.slice(0, this.count)
    return this
  }
}

/** Whether two numbers, by their words from an offset on, share their first `prefix` bits. */
function agree(a: Uint32Array, atA: number, b: Uint32Array, atB: number, prefix: number): boolean {
  let left = prefix
  let i = 0
  for (; left >= 32; left -= 32, i++) if (a[atA + i] !== b[atB + i]) return false
  return left === 0 || (a[atA + i]! ^ b[atB + i]!) >>> (32 - left) === 0
}

function maskOf(bits: number): number {
  if (bits >= 32) return 0xffffffff
  return bits <= 0 ? 0 : -1 << (32 - bits)
}

function isAbove(starts: Uint32Array, at: number, words: Uint32Array, width: number): boolean {
  for (let i = 0; i < width; i++) {
    const start = starts[at + i]!
    const word = words[i]!
    if (start !== word) return start > word
  }
  return false
}
