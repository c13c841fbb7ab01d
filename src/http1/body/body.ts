// The body of a message (RFC 9112 sections 6 and 7), without copies: views into the caller's buffer.

import { backslash, cr, dquote, hexValue, isFieldByte, lf, semicolon } from '../fields/characters.ts'
import { TrailerSection } from './trailers.ts'

export type Framing = 'none' | 'length' | 'chunked' | 'close'

const extensionsLimit = 16 * 1024

/** Max hex digits of a chunk size: 2^40 bytes, far beyond any real chunk and far from rounding. */
const maxChunkDigits = 10
const maxPlainDigits = 6

const chunk = {
  size: 0,
  extension: 1,
  quoted: 2,
  quotedPair: 3,
  sizeLf: 4,
  data: 5,
  dataCr: 6,
  dataLf: 7,
  trailer: 8,
} as const
type ChunkState = (typeof chunk)[keyof typeof chunk]

/**
 * Reads one body incrementally. After `next`, the bytes from `from` to `to` are data (perhaps none); `done`
 * and `faulty` tell the state of the body.
 *
 *     while (at < bytes.length && !body.done && !body.faulty) {
 *       at = body.next(bytes, at)
 *       if (body.to > body.from) …
 *     }
 */
export class BodyReader {
  readonly framing: Framing
  from = 0
  to = 0
  done: boolean
  faulty = false
  #remaining: number
  #state: ChunkState = chunk.size
  #digits = 0
  #extensions = 0
  #trailers: TrailerSection | null = null
  readonly #hopByHop: ReadonlySet<string> | null

  /** `length` is read for that framing only; `hopByHop` holds the names that Connection lists. */
  constructor(framing: Framing, length: number, hopByHop: ReadonlySet<string> | null = null) {
    this.framing = framing
    this.#hopByHop = hopByHop
    this.#remaining = framing === 'length' ? length : 0
    this.done = framing === 'none' || (framing === 'length' && length === 0)
  }

  /** Reads from `at`, at most to the end of one run of data; returns the offset after it. */
  next(bytes: Buffer, at: number): number {
    this.from = this.to = at
    if (this.framing === 'chunked') return this.#chunked(bytes, at)
    const available = bytes.length - at
    if (this.framing === 'close') return (this.to = at + available)
    return this.#data(available, at)
  }

  end(): void {
    if (this.framing === 'close') this.done = true
    else if (!this.done) this.faulty = true
  }

  get trailers(): string[] | null {
    return this.#trailers === null ? null : this.#trailers.fields
  }

  #data(available: number, at: number): number {
    const length = Math.min(available, this.#remaining)
    this.#remaining -= length
    this.to = at + length
    if (this.framing === 'length') this.done = this.#remaining === 0
    else if (this.#remaining === 0) this.#state = chunk.dataCr
    return this.to
  }

  #chunked(bytes: Buffer, start: number): number {
    let at = this.#state === chunk.size && this.#digits === 0 ? this.#plainSize(bytes, start) : start
    while (at < bytes.length) {
      if (this.#state === chunk.data) {
        this.from = at
        return this.#lineEnd(bytes, this.#data(bytes.length - at, at))
      }
      if (this.#state === chunk.trailer) return this.#trailer(bytes, at)
      if (!this.#framingByte(bytes[at]!)) {
        this.faulty = true
        break
      }
      at++
    }
    return at
  }

  /** Reads the line before data if all of it is there, without extensions: most are. */
  #plainSize(bytes: Buffer, at: number): number {
    const last = Math.min(at + maxPlainDigits, bytes.length - 2)
    let size = 0
    let end = at
    for (; end < last && hexValue[bytes[end]!] !== 255; end++) size = size * 16 + hexValue[bytes[end]!]!
    if (size === 0 || bytes[end] !== cr || bytes[end + 1] !== lf) return at
    this.#remaining = size
    this.#state = chunk.data
    return end + 2
  }

  /** Skips the line end after data if all of it is there. */
  #lineEnd(bytes: Buffer, at: number): number {
    if (bytes[at] !== cr || bytes[at + 1] !== lf) return at
    this.#state = chunk.size
    return at + 2
  }

  #framingByte(byte: number): boolean {
    switch (this.#state) {
      case chunk.size:
        return this.#sizeByte(byte)
      case chunk.extension:
      case chunk.quoted:
      case chunk.quotedPair:
        return this.#extensionByte(byte)
      case chunk.sizeLf:
        this.#state = this.#remaining === 0 ? chunk.trailer : chunk.data
        this.#digits = 0
        return byte === lf
      case chunk.dataCr:
        this.#state = chunk.dataLf
        return byte === cr
      default:
        this.#state = chunk.size
        return byte === lf
    }
  }

  #sizeByte(byte: number): boolean {
    const digit = hexValue[byte]!
    if (digit !== 255) {
      this.#remaining = this.#remaining * 16 + digit
      return ++this.#digits <= maxChunkDigits
    }
    // The grammar allows white space before the semicolon, but only request smuggling uses it.
    this.#state = byte === cr ? chunk.sizeLf : chunk.extension
    return this.#digits > 0 && (byte === cr || byte === semicolon)
  }

  #extensionByte(byte: number): boolean {
    const state = this.#state
    if (state === chunk.quotedPair) this.#state = chunk.quoted
    else if (byte === dquote) this.#state = state === chunk.quoted ? chunk.extension : chunk.quoted
    else if (state === chunk.quoted && byte === backslash) this.#state = chunk.quotedPair
    else if (state === chunk.extension && byte === cr) {
      this.#state = chunk.sizeLf
      return true
    }
    return isFieldByte[byte] === 1 && ++this.#extensions <= extensionsLimit
  }

  #trailer(bytes: Buffer, at: number): number {
    const section = (this.#trailers ??= new TrailerSection(this.#hopByHop))
    const end = section.next(bytes, at)
    this.done = section.done
    this.faulty = section.faulty
    return end
  }
}

/** Done from the start, so that all messages share it. */
export const noBody = new BodyReader('none', 0)
