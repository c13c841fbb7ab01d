// The messages of a client (RFC 6455 section 5), each held until all of its frames are here.

const final = 0x80
const reserved = 0x70
const maskBit = 0x80
const keySize = 4
/** Events with sound have up to 15 MiB. */
const maxSize = 16 * 1024 * 1024

/** A message as it came, and what it says; a control frame says nothing. */
export interface ClientMessage {
  readonly bytes: Buffer
  readonly text: string | null
}

export class ClientMessages {
  /** Whether what came is not valid, compressed, or too large: nothing more is read. */
  isLost = false
  readonly #onMessage: (message: ClientMessage) => void
  #pieces: Buffer[] = []
  #size = 0
  /** Bytes that the frame at the beginning of the pieces has at least. */
  #needed = 2
  // Of a message that is not complete.
  #frames: Buffer[] = []
  #framesSize = 0
  #payloads: Buffer[] | null = null

  constructor(onMessage: (message: ClientMessage) => void) {
    this.#onMessage = onMessage
  }

  push(bytes: Buffer): void {
    this.#pieces.push(bytes)
    this.#size += bytes.length
    while (this.#size >= this.#needed && !this.isLost) this.#read()
  }

  /** Gives up what is incomplete: the bytes that came of it. */
  takeRest(): Buffer {
    const rest = Buffer.concat([...this.#frames, ...this.#pieces])
    this.#frames = []
    this.#pieces = []
    this.#size = 0
    return rest
  }

  /** Reads one frame, or finds how many bytes it has. */
  #read(): void {
    const all = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
    this.#pieces = [all]
    const size = frameSize(all)
    if (size === null || size + this.#framesSize > maxSize || (all[0]! & reserved) !== 0) {
      this.isLost = true
      return
    }
    this.#needed = size
    if (all.length < size) return
    this.#pieces = all.length === size ? [] : [all.subarray(size)]
    this.#size -= size
    this.#needed = 2
    this.#take(all.subarray(0, size))
  }

  #take(frame: Buffer): void {
    const opcode = frame[0]! & 0x0f
    if (opcode >= 8) return this.#onMessage({ bytes: frame, text: null })
    const isFirst = opcode !== 0
    if (isFirst === (this.#payloads !== null)) {
      this.isLost = true
      return
    }
    this.#payloads ??= []
    this.#payloads.push(payloadOf(frame))
    this.#frames.push(frame)
    this.#framesSize += frame.length
    if ((frame[0]! & final) === 0) return
    const bytes = Buffer.concat(this.#frames)
    const text = Buffer.concat(this.#payloads).toString()
    this.#frames = []
    this.#framesSize = 0
    this.#payloads = null
    this.#onMessage({ bytes, text })
  }
}

/** Returns the bytes that a frame has, or its head for the time being; null if it is not valid. */
function frameSize(bytes: Buffer): number | null {
  if ((bytes[1]! & maskBit) === 0) return null
  const short = bytes[1]! & 0x7f
  const head = (short < 126 ? 2 : short === 126 ? 4 : 10) + keySize
  if (short < 126) return head + short
  if (bytes.length < head) return head
  return head + (short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2)))
}

function payloadOf(frame: Buffer): Buffer {
  const short = frame[1]! & 0x7f
  const at = short < 126 ? 2 : short === 126 ? 4 : 10
  const key = frame.subarray(at, at + keySize)
  const payload = Buffer.from(frame.subarray(at + keySize))
  for (let i = 0; i < payload.length; i++) payload[i]! ^= key[i & 3]!
  return payload
}
