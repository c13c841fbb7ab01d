// Memory that the heads of log entries are written into as JSON arrays, value by value and with no string between.

/** Bytes to begin with. */
const smallest = 4096
/** Bytes that a whole number takes at most, and what stands around it. */
const mostOfNumber = 24
/** Up to so many bytes, a loop copies faster than a call. */
const worthCall = 16
/** Up to here, digits are cheap to divide off. */
const billion = 1e9

export class LogBytes {
  #bytes: Buffer = Buffer.allocUnsafeSlow(smallest)
  #size = 0

  /** Bytes that are written. */
  get size(): number {
    return this.#size
  }

  /** Bytes of memory, used or not. */
  get weight(): number {
    return this.#bytes.length
  }

  /** Returns what is written; it lies in this memory until `clear`. */
  written(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }

  /** Starts over in the same memory. */
  clear(): void {
    this.#size = 0
  }

  /** Begins an array behind a comma and a line end, which stands nowhere else: JSON escapes it in texts. */
  open(): void {
    this.#reserve(3)
    this.#bytes[this.#size++] = comma
    this.#bytes[this.#size++] = lineEnd
    this.#bytes[this.#size++] = bracket
  }

  /** Ends an array in the place of the last comma. */
  close(): void {
    this.#bytes[this.#size - 1] = bracketEnd
  }

  /** Writes a value that is JSON with a comma behind it already. */
  copy(json: Uint8Array): void {
    const { length } = json
    this.#reserve(length)
    if (length > worthCall) this.#bytes.set(json, this.#size)
    else for (let i = 0; i < length; i++) this.#bytes[this.#size + i] = json[i]!
    this.#size += length
  }

  /** Returns a copy of what is written behind so many bytes. */
  since(size: number): Uint8Array {
    return Uint8Array.from(this.#bytes.subarray(size, this.#size))
  }

  /** Writes what JSON makes of a value. */
  json(value: unknown): void {
    this.copy(value === null ? nullMember : member(JSON.stringify(value)))
  }

  number(value: number | null): void {
    if (value === null || !isWhole(value)) return this.json(value)
    this.#reserve(mostOfNumber)
    this.#whole(value)
    this.#bytes[this.#size++] = comma
  }

  /** Writes a number as a multiple of a power of ten where it is one, as times and costs are: that is exact, and needs no search for the shortest decimals. */
  multiple(value: number | null, { inOne, exponent }: Power): void {
    if (value === null) return this.json(value)
    const count = Math.round(value * inOne)
    if (!isWhole(count) || count / inOne !== value) return this.json(value)
    this.#reserve(mostOfNumber)
    this.#whole(count)
    this.copy(exponent)
  }

  #whole(value: number): void {
    if (value < billion) return this.#digits(value, lengthOf(value))
    const high = Math.floor(value / billion)
    this.#whole(high)
    this.#digits(value - high * billion, 9)
  }

  /** Writes so many digits of a number below a billion. */
  #digits(value: number, length: number): void {
    const to = this.#bytes
    const start = this.#size
    let left = value | 0
    for (let at = start + length - 1; at >= start; at--) {
      const tenth = (left / 10) | 0
      to[at] = zero + left - tenth * 10
      left = tenth
    }
    this.#size = start + length
  }

  #reserve(more: number): void {
    if (this.#size + more > this.#bytes.length) this.#bytes = withRoom(this.#bytes, this.#size, more)
  }
}

/** A negative power of ten. */
interface Power {
  readonly inOne: number
  readonly exponent: Uint8Array
}

/** Makes the power with so many decimals. */
export function power(decimals: number): Power {
  return { inOne: 10 ** decimals, exponent: member(`e-${decimals}`) }
}

/** Makes of JSON what can be copied. */
export function member(json: string): Uint8Array {
  return encoder.encode(`${json},`)
}

const encoder = new TextEncoder()
const nullMember = member('null')

/** Returns memory with room for more behind what is used of a buffer: the same if it has it. */
export function withRoom(buffer: Buffer, used: number, more: number): Buffer {
  if (used + more <= buffer.length) return buffer
  const larger = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, used + more))
  larger.set(buffer.subarray(0, used))
  return larger
}

function isWhole(value: number): boolean {
  return value >= 0 && value <= Number.MAX_SAFE_INTEGER && Math.floor(value) === value
}

function lengthOf(value: number): number {
  let length = 1
  for (let power = 10; power <= value; power *= 10) length++
  return length
}

export const zero = 0x30
export const comma = 0x2c
export const lineEnd = 0x0a
const bracket = 0x5b
const bracketEnd = 0x5d
