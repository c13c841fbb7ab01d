// Writes a message of protobuf, field by field, into bytes that grow with it.

/** What comes on the wire behind a field's number. */
const wire = { varint: 0, fixed64: 1, length: 2, fixed32: 5 } as const

export class ProtobufWriter {
  #bytes = Buffer.allocUnsafeSlow(firstSize)
  #end = 0

  /** What has been written; later writes may change it. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#end)
  }

  /** Starts over, in the memory of what was written. */
  clear(): void {
    this.#end = 0
  }

  /** Begins a message within this one, and returns where; `end` ends it. */
  begin(field: number): number {
    this.#tag(field, wire.length)
    this.#reserve(longestVarint)
    return (this.#end += shortestVarint)
  }

  /** Ends the message that begins at `start`: its length comes before it. */
  end(start: number): void {
    const length = this.#end - start
    const more = varintSize(length) - shortestVarint
    if (more > 0) {
      this.#reserve(more)
      this.#bytes.copyWithin(start + more, start, this.#end)
    }
    this.#end = start - shortestVarint
    this.#varint(length)
    this.#end += length
  }

  /** Writes a whole number, at least 0. */
  whole(field: number, value: number): void {
    this.#tag(field, wire.varint)
    this.#reserve(longestVarint)
    this.#varint(value)
  }

  double(field: number, value: number): void {
    this.#tag(field, wire.fixed64)
    this.#reserve(8)
    this.#end = this.#bytes.writeDoubleLE(value, this.#end)
  }

  fixed32(field: number, value: number): void {
    this.#tag(field, wire.fixed32)
    this.#reserve(4)
    this.#fixed32(value)
  }

  /** Writes ms since 1970 as nanoseconds. */
  time(field: number, ms: number): void {
    this.#tag(field, wire.fixed64)
    this.#reserve(8)
    const whole = Math.floor(ms)
    // In two halves, since the product has more digits than a number holds.
    const high = Math.floor(whole / 2 ** 16) * nanoseconds
    const low =
      (high % 2 ** 16) * 2 ** 16 + (whole % 2 ** 16) * nanoseconds + Math.round((ms - whole) * nanoseconds)
    this.#fixed32(low)
    this.#fixed32(Math.floor(high / 2 ** 16) + Math.floor(low / 2 ** 32))
  }

  /** Writes bytes that are given as hex digits. */
  hex(field: number, digits: string): void {
    const length = digits.length / 2
    this.#tag(field, wire.length)
    this.#reserve(longestVarint + length)
    this.#varint(length)
    this.#end += this.#bytes.write(digits, this.#end, 'hex')
  }

  text(field: number, text: string): void {
    const { length } = text
    this.#tag(field, wire.length)
    this.#reserve(longestVarint + length)
    const start = this.#end
    this.#varint(length)
    const bytes = this.#bytes
    let at = this.#end
    // Most texts are short and in ASCII: one by one, their characters take less than a call that encodes them.
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      if (code > lastOfAscii) {
        this.#end = start
        return this.#encoded(text)
      }
      bytes[at++] = code
    }
    this.#end = at
  }

  #encoded(text: string): void {
    const length = Buffer.byteLength(text)
    this.#reserve(longestVarint + length)
    this.#varint(length)
    this.#end += this.#bytes.write(text, this.#end)
  }

  #tag(field: number, type: number): void {
    this.#reserve(longestVarint)
    this.#varint(field * 8 + type)
  }

  #varint(value: number): void {
    let rest = value
    while (rest > 0x7f) {
      this.#bytes[this.#end++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#end++] = rest
  }

  #fixed32(value: number): void {
    const bytes = this.#bytes
    bytes[this.#end++] = value
    bytes[this.#end++] = value >>> 8
    bytes[this.#end++] = value >>> 16
    bytes[this.#end++] = value >>> 24
  }

  #reserve(more: number): void {
    const wanted = this.#end + more
    if (wanted <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(wanted, 2 * this.#bytes.length))
    this.#bytes.copy(grown, 0, 0, this.#end)
    this.#bytes = grown
  }
}

const firstSize = 16 * 1024
const nanoseconds = 1e6
const lastOfAscii = 0x7f
const shortestVarint = 1
/** Of a number of 53 bits. */
const longestVarint = 8

function varintSize(value: number): number {
  let size = shortestVarint
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) size++
  return size
}
