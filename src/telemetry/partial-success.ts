// What a collector says that it did not take of a message that it took otherwise (opentelemetry-proto 1.x, ExportTraceServiceResponse and ExportMetricsServiceResponse).

interface PartialSuccess {
  /** How many spans, or data points. */
  readonly rejected: number
  readonly reason: string
}

/** Reads a response in protobuf; null where all was taken, or it cannot be read. */
export function partialSuccessOf(response: Buffer): PartialSuccess | null {
  try {
    const partial = new Message(response).fields.get(1)
    if (!Buffer.isBuffer(partial)) return null
    const { fields } = new Message(partial)
    const [rejected, reason] = [fields.get(1), fields.get(2)]
    if (typeof rejected !== 'number' || rejected === 0) return null
    return { rejected, reason: Buffer.isBuffer(reason) ? reason.toString().slice(0, longestReason) : '' }
  } catch {
    return null
  }
}

const longestReason = 256

/** The fields of a message by their numbers; of those that repeat, the last. */
class Message {
  readonly fields = new Map<number, number | Buffer>()
  readonly #bytes: Buffer
  #at = 0

  /** Throws where the message is not whole, or is none. */
  constructor(bytes: Buffer) {
    this.#bytes = bytes
    while (this.#at < bytes.length) {
      const tag = this.#varint()
      const value = this.#value(tag & 7)
      this.fields.set(tag >>> 3, value)
    }
  }

  #value(wire: number): number | Buffer {
    if (wire === 0) return this.#varint()
    const length = wire === 2 ? this.#varint() : fixed[wire]
    if (length === undefined) throw new Error('not a field')
    const from = this.#at
    this.#at += length
    if (this.#at > this.#bytes.length) throw new Error('cut')
    return this.#bytes.subarray(from, this.#at)
  }

  #varint(): number {
    let value = 0
    for (let factor = 1; factor <= 2 ** 63; factor *= 0x80) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw new Error('cut')
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
    throw new Error('not a number')
  }
}

/** Bytes of a value by its type on the wire. */
const fixed: Readonly<Record<number, number>> = { 1: 8, 5: 4 }
