// Finds where WebSocket frames end (RFC 6455 section 5.2), to insert one between two that pass untouched.

const maskBit = 0x80
const final = 0x80
const close = 8
/** RFC 6455 section 5.5. */
const maxControl = 125
const keySize = 4

export class FrameBorders {
  /** Whether a Close frame has begun, after which nothing may follow (RFC 6455 section 5.5.1). */
  isClosing = false
  /** Whether the bytes are not valid frames: then the next border is unknown. */
  isLost = false
  readonly #masked: number
  #left = 0
  // An incomplete head: its bytes so far, its full length, and what they say.
  #read = 0
  #headSize = 2
  #first = 0
  #second = 0
  #size = 0

  /** A client masks all frames, a server none (RFC 6455 section 5.1). */
  constructor(sender: 'client' | 'server') {
    this.#masked = sender === 'client' ? maskBit : 0
  }

  get isAtBorder(): boolean {
    return this.#left === 0 && this.#read === 0 && !this.isLost
  }

  follow(bytes: Buffer): void {
    const { length } = bytes
    if (this.#left >= length) {
      this.#left -= length
      return
    }
    for (let at = 0; at < length; ) {
      if (this.#read === 0 && !this.isLost) at = this.#skipUsual(bytes, at)
      at = this.next(bytes, at)
    }
  }

  /** Reads at most to the end of the current frame; returns the index after it. */
  next(bytes: Buffer, from: number): number {
    const { length } = bytes
    const at = this.#left === 0 && !this.isLost ? this.#readHead(bytes, from) : from
    if (this.isLost) return length
    const end = at + this.#left
    if (end > length) {
      this.#left = end - length
      return length
    }
    this.#left = 0
    return end
  }

  /** Skips data frames of up to 64 KiB, as most are; returns the index of anything else. */
  #skipUsual(bytes: Buffer, from: number): number {
    const { length } = bytes
    const masked = this.#masked
    const more = masked === 0 ? 0 : keySize
    let at = from + this.#left
    while (at + 4 <= length && (bytes[at]! & 0x0f) <= 2) {
      const size = bytes[at + 1]! ^ masked
      if (size < 126) at += 2 + more + size
      else if (size === 126) at += 4 + more + ((bytes[at + 2]! << 8) | bytes[at + 3]!)
      else break
    }
    this.#left = Math.max(0, at - length)
    return Math.min(at, length)
  }

  #readHead(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) if (this.#take(bytes[at]!)) return at + 1
    return bytes.length
  }

  /** Returns true for the last byte of a head. */
  #take(byte: number): boolean {
    const place = this.#read++
    if (place === 0) this.#first = byte
    else if (place > 1) this.#size = this.#size * 256 + byte
    else {
      const size = byte & 0x7f
      this.#second = byte
      this.#size = size < 126 ? size : 0
      this.#headSize = size < 126 ? 2 : size === 126 ? 4 : 10
    }
    if (this.#read < this.#headSize) return false
    this.#read = 0
    this.#open(this.#first, this.#second, this.#size)
    return true
  }

  #open(first: number, second: number, size: number): void {
    const opcode = first & 0x0f
    const isControl = opcode >= close
    if (opcode === close) this.isClosing = true
    if (
      (second & maskBit) === this.#masked &&
      size <= Number.MAX_SAFE_INTEGER &&
      (opcode & 7) <= 2 &&
      (!isControl || ((first & final) !== 0 && size <= maxControl))
    ) {
      this.#left = this.#masked === 0 ? size : size + keySize
    } else this.isLost = true
  }
}
