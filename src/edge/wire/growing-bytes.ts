// Bytes of a body that is needed whole, in one piece however small those are that it comes in: a list of pieces of one byte would take a hundred times
// the memory.

/** There is room for all that is announced once it is at most so many times what has come. */
const worthAll = 8

export class GrowingBytes {
  size = 0
  #bytes: Buffer = empty
  readonly #expected: number

  /** `expected` is how many are announced, of which many may never come; less than 1 where that is unknown. */
  constructor(expected = 0) {
    this.#expected = expected
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.size)
  }

  append(bytes: Buffer): void {
    const size = this.size + bytes.length
    if (size > this.#bytes.length) {
      // Each buffer that was too small is garbage of its size.
      const isNear = size < this.#expected && size * worthAll >= this.#expected
      const larger = Buffer.allocUnsafeSlow(isNear ? this.#expected : Math.max(size, 2 * this.#bytes.length))
      this.#bytes.copy(larger, 0, 0, this.size)
      this.#bytes = larger
    }
    bytes.copy(this.#bytes, this.size)
    this.size = size
  }
}

const empty = Buffer.alloc(0)
