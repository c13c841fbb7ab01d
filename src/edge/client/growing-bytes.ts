// Bytes of a body that is needed whole, in one piece however small those are that it comes in: a list of pieces of one byte would take a hundred times
// the memory.

export class GrowingBytes {
  size = 0
  #bytes: Buffer = empty

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.size)
  }

  append(bytes: Buffer): void {
    const size = this.size + bytes.length
    if (size > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#bytes.length))
      this.#bytes.copy(larger, 0, 0, this.size)
      this.#bytes = larger
    }
    bytes.copy(this.#bytes, this.size)
    this.size = size
  }
}

const empty = Buffer.alloc(0)
