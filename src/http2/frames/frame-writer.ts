// Writes frames into one buffer, so that all frames of a turn leave in one write.

import { flag, frameType } from './frames.ts'
import { frameLimit } from './frame-reader.ts'
import { type RequestFields, writeRequestFields } from './request-block.ts'
import { HpackEncoder } from '../hpack/encoder.ts'

const headLength = 9
/** Small output shares slabs; a rest below the min size is given up. */
const slabSize = 64 * 1024
const minRest = 8 * 1024
const maxRests = 16
/** Large output has a buffer of its own, reused once it is written. */
const largeSize = 96 * 1024
const maxLarge = 32

/** Shared by all connections: an idle one holds no memory. */
const rests: Buffer[] = []
const large: Buffer[] = []
const nothing = Buffer.alloc(0)
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export class FrameWriter {
  readonly encoder = new HpackEncoder()
  length = 0
  #bytes: Buffer = nothing
  #lent: Buffer | null = null
  /** The last frame, as long as it can still end its stream; -1 for none. */
  #lastAt = -1
  #lastStream = 0

  /** To be called once what was taken is written. */
  reclaim(): void {
    if (this.#lent !== null) keepLarge(this.#lent)
    this.#lent = null
  }

  take(): Buffer {
    const bytes = this.#bytes
    const frames = bytes.subarray(0, this.length)
    if (bytes.length === largeSize) this.#lent = bytes
    else keepRest(bytes, this.length)
    this.#bytes = nothing
    this.length = 0
    this.#lastAt = -1
    return frames
  }

  /**
   * HEADERS, and CONTINUATION frames if needed; the status is 0 for trailers. Whether one of those was
   * never indexed is no longer known.
   */
  headers(stream: number, status: number, lines: string, isEnd: boolean, secret = status === 0): void {
    this.#begin(
      0,
      frameType.headers,
      flag.endHeaders | (isEnd ? flag.endStream : 0),
      stream,
      2 * lines.length + 16,
    )
    const at = this.length
    let end = this.encoder.begin(this.#bytes, at)
    if (status !== 0) end = this.encoder.status(status, this.#bytes, end)
    end = this.encoder.lines(lines, this.#bytes, end, secret)
    this.length = end
    if (end - at > frameLimit) this.#split(at, stream, isEnd)
    else this.#size(at - headLength, end - at)
    this.#lastAt = at - headLength
    this.#lastStream = stream
  }

  request(stream: number, fields: RequestFields, isEnd: boolean): void {
    const room = 2 * fields.lines.length + fields.authority.length + fields.target.length + 64
    this.#begin(0, frameType.headers, flag.endHeaders | (isEnd ? flag.endStream : 0), stream, room)
    const at = this.length
    this.length = writeRequestFields(this.encoder, fields, this.#bytes, this.encoder.begin(this.#bytes, at))
    if (this.length - at > frameLimit) this.#split(at, stream, isEnd)
    else this.#size(at - headLength, this.length - at)
  }

  data(stream: number, bytes: Buffer, from: number, to: number, isEnd: boolean): void {
    this.#begin(to - from, frameType.data, isEnd ? flag.endStream : 0, stream, to - from)
    this.#lastAt = this.length - headLength
    this.#lastStream = stream
    this.length += bytes.copy(this.#bytes, this.length, from, to)
  }

  /** Ends a stream with its last frame if no other followed, or else with an empty one. */
  endStream(stream: number): void {
    if (this.#lastAt !== -1 && this.#lastStream === stream) this.#bytes[this.#lastAt + 4]! |= flag.endStream
    else this.data(stream, nothing, 0, 0, true)
    this.#lastAt = -1
  }

  /** RFC 9113 section 3.4; a SETTINGS frame must follow. */
  preface(): void {
    if (this.#bytes.length - this.length < preface.length) this.#grow(preface.length)
    this.length += preface.copy(this.#bytes, this.length)
  }

  settings(pairs: readonly (readonly [id: number, value: number])[]): void {
    this.#begin(pairs.length * 6, frameType.settings, 0, 0, pairs.length * 6)
    for (const [id, value] of pairs) {
      this.#bytes.writeUInt16BE(id, this.length)
      this.#bytes.writeUInt32BE(value, this.length + 2)
      this.length += 6
    }
  }

  settingsAck(): void {
    this.#begin(0, frameType.settings, flag.ack, 0, 0)
  }

  pingAck(bytes: Buffer, at: number): void {
    this.#begin(8, frameType.ping, flag.ack, 0, 8)
    this.length += bytes.copy(this.#bytes, this.length, at, at + 8)
  }

  ping(): void {
    this.#begin(8, frameType.ping, 0, 0, 8)
    this.#uint32(0)
    this.#uint32(0)
  }

  windowUpdate(stream: number, increment: number): void {
    this.#begin(4, frameType.windowUpdate, 0, stream, 4)
    this.#uint32(increment)
  }

  rstStream(stream: number, code: number): void {
    this.#begin(4, frameType.rstStream, 0, stream, 4)
    this.#uint32(code)
  }

  goAway(lastStream: number, code: number, detail: string): void {
    this.#begin(8 + detail.length, frameType.goAway, 0, 0, 8 + detail.length)
    this.#uint32(lastStream)
    this.#uint32(code)
    this.length += this.#bytes.write(detail, this.length, 'latin1')
  }

  /** `room`: bytes for what follows the head. */
  #begin(length: number, type: number, flags: number, stream: number, room: number): void {
    if (this.#bytes.length - this.length < room + headLength) this.#grow(room + headLength)
    const bytes = this.#bytes
    const at = this.length
    bytes[at] = length >>> 16
    bytes[at + 1] = length >>> 8
    bytes[at + 2] = length
    bytes[at + 3] = type
    bytes[at + 4] = flags
    bytes[at + 5] = stream >>> 24
    bytes[at + 6] = stream >>> 16
    bytes[at + 7] = stream >>> 8
    bytes[at + 8] = stream
    this.length = at + headLength
    this.#lastAt = -1
  }

  /** Sets the size of a frame that was begun with 0; below 64 KiB. */
  #size(at: number, length: number): void {
    this.#bytes[at + 1] = length >>> 8
    this.#bytes[at + 2] = length
  }

  #uint32(value: number): void {
    this.length = this.#bytes.writeUInt32BE(value, this.length)
  }

  /** Rewrites a header block that begins at `at` as frames of the size that every peer must accept. */
  #split(at: number, stream: number, isEnd: boolean): void {
    const block = Buffer.from(this.#bytes.subarray(at, this.length))
    this.length = at - headLength
    for (let from = 0; from < block.length; from += frameLimit) {
      const to = Math.min(from + frameLimit, block.length)
      const type = from === 0 ? frameType.headers : frameType.continuation
      const flags = (from === 0 && isEnd ? flag.endStream : 0) | (to === block.length ? flag.endHeaders : 0)
      this.#begin(to - from, type, flags, stream, to - from)
      this.length += block.copy(this.#bytes, this.length, from, to)
    }
  }

  #grow(room: number): void {
    const before = this.#bytes
    const needed = this.length + room
    if (needed > largeSize) this.#bytes = Buffer.allocUnsafeSlow(2 * needed)
    else if (needed > minRest) this.#bytes = large.pop() ?? Buffer.allocUnsafeSlow(largeSize)
    else this.#bytes = rests.pop() ?? Buffer.allocUnsafeSlow(slabSize)
    before.copy(this.#bytes, 0, 0, this.length)
    if (before.length === largeSize) keepLarge(before)
    else keepRest(before, 0)
  }
}

function keepLarge(bytes: Buffer): void {
  if (large.length < maxLarge) large.push(bytes)
}

/** Keeps what is left of a slab, but not of memory that was made for one large output. */
function keepRest(bytes: Buffer, used: number): void {
  if (bytes.length <= slabSize && bytes.length - used >= minRest && rests.length < maxRests)
    rests.push(bytes.subarray(used))
}
