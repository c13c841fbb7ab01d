// The texts that a server sends over a WebSocket (RFC 6455 section 5.4), read as the bytes pass.

const maxLength = 1024 * 1024

export class FrameMessages {
  readonly #onText: (text: string) => void
  readonly #wants: (beginning: Buffer) => boolean
  /** Whether the frames are invalid or compressed: nothing more is read. */
  #isLost = false
  readonly #head = Buffer.alloc(10)
  #read = 0
  #left = 0
  #isFinal = false
  #isData = false
  #pieces: Buffer[] | null = null
  #size = 0

  /** `wants` decides by the beginning of a text. */
  constructor(onText: (text: string) => void, wants: (beginning: Buffer) => boolean) {
    this.#onText = onText
    this.#wants = wants
  }

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length && !this.#isLost; ) {
      if (this.#left === 0) {
        this.#head[this.#read++] = bytes[at++]!
        if (this.#read >= this.#headSize()) this.#open()
        continue
      }
      const end = Math.min(bytes.length, at + this.#left)
      if (this.#isData) this.#keep(bytes.subarray(at, end))
      this.#left -= end - at
      at = end
      if (this.#left === 0) this.#close()
    }
  }

  /** Before the second byte is here, that of the last head says at least 2. */
  #headSize(): number {
    const size = this.#head[1]! & 0x7f
    return size < 126 ? 2 : size === 126 ? 4 : 10
  }

  #open(): void {
    const [first, second] = [this.#head[0]!, this.#head[1]!]
    const opcode = first & 0x0f
    this.#read = 0
    // A server masks nothing, and a reserved bit means an extension.
    if ((second & 0x80) !== 0 || (first & 0x70) !== 0) {
      this.#isLost = true
      return
    }
    const short = second & 0x7f
    if (short < 126) this.#left = short
    else this.#left = short === 126 ? this.#head.readUInt16BE(2) : Number(this.#head.readBigUInt64BE(2))
    this.#isFinal = (first & 0x80) !== 0
    this.#isData = opcode < 8
    if (opcode === 1) {
      this.#pieces = []
      this.#size = 0
    } else if (opcode === 2) this.#pieces = null
    if (this.#left === 0) this.#close()
  }

  #keep(bytes: Buffer): void {
    if (this.#pieces === null) return
    this.#size += bytes.length
    const isFirst = this.#pieces.length === 0
    if (this.#size > maxLength || (isFirst && !this.#wants(bytes))) this.#pieces = null
    else this.#pieces.push(Buffer.from(bytes))
  }

  #close(): void {
    if (!this.#isData || !this.#isFinal) return
    const pieces = this.#pieces
    this.#pieces = null
    if (pieces !== null && this.#size > 0)
      this.#onText((pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)).toString())
  }
}
