// Collects a body in one piece. A list of pieces would take a hundred times the memory if each has one byte.

/** At this fraction (1/8) of the announced length, all of it is allocated. */
const worthAll = 8

export class GrowingBytes {
  size = 0
  #bytes: Buffer = empty
  readonly #expected: number

  /** `expected` is the announced length, which may never arrive; less than 1 if unknown. */
  constructor(expected = 0) {
    this.#expected = expected
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.size)
  }

  append(bytes: Buffer): void {
    const size = this.size + bytes.length
    if (size > this.#bytes.length) {
      // Each buffer that was too small becomes garbage.
      const isNear = size < this.#expected && size * worthAll >= this.#expected
      const larger = Buffer.allocUnsafeSlow(isNear ? this.#expected : Math.max(size, 2 * this.#bytes.length))
      this.#bytes.copy(larger, 0, 0, this.size)
      this.#bytes = larger
    }
    bytes.copy(this.#bytes, this.size)
    this.size = size
  }
}

/** Collects pieces of which there is mostly one, which is not copied. */
export class Pieces {
  size = 0
  #first: Buffer = empty
  #all: GrowingBytes | null = null

  get bytes(): Buffer {
    return this.#all === null ? this.#first : this.#all.bytes
  }

  append(bytes: Buffer): void {
    if (this.size === 0) this.#first = bytes
    else {
      if (this.#all === null) {
        this.#all = new GrowingBytes()
        this.#all.append(this.#first)
      }
      this.#all.append(bytes)
    }
    this.size += bytes.length
  }
}

const empty = Buffer.alloc(0)
