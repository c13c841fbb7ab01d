// Where the body of a message ends and which of the received bytes are its data (RFC 9112 sections 6 and 7). One reader for both directions; it copies
// nothing: it points into the caller's buffer.
import { CR, hexValue, isFieldByte, LF, SEMICOLON } from './characters.ts'
import { crosses, type FieldId, field } from './fields.ts'
import { endOfHead, type FieldReader, mayContinue, readFieldLines } from './head.ts'

export type Framing = 'none' | 'length' | 'chunked' | 'close'

/** Bytes of chunk extensions and of trailers that one body may have, each. */
const OVERHEAD_LIMIT = 16 * 1024

/** The longest chunk that a sender may announce: 2^40 bytes, far beyond any real one and far from rounding. */
const LARGEST_CHUNK_DIGITS = 10

/** What the next byte of a chunked body belongs to. */
const chunk = { size: 0, extension: 1, sizeLf: 2, data: 3, dataCr: 4, dataLf: 5, trailer: 6 } as const
type ChunkState = (typeof chunk)[keyof typeof chunk]

/**
 * Reads one body incrementally. After `next`, the bytes from `from` to `to` are data (perhaps none); `done` and `faulty` say how the body stands.
 *
 *     while (at < bytes.length && !body.done && !body.faulty) {
 *       at = body.next(bytes, at)
 *       if (body.to > body.from) …
 *     }
 */
export class BodyReader implements FieldReader {
  readonly framing: Framing
  from = 0
  to = 0
  done: boolean
  faulty = false
  /** Field lines that followed the last chunk and may go on to the next hop; flat, null when there were none. */
  trailers: string[] | null = null
  /** Bytes still to come: of the body (`length`) or of the current chunk. */
  #remaining: number
  #state: ChunkState = chunk.size
  #digits = 0
  #overhead = 0
  #partialTrailer: Buffer | null = null
  readonly #hopByHop: ReadonlySet<string> | null

  /** Begins a body; `length` is read for that framing only, `hopByHop` are the names that Connection lists. */
  constructor(framing: Framing, length: number, hopByHop: ReadonlySet<string> | null = null) {
    this.framing = framing
    this.#hopByHop = hopByHop
    this.#remaining = framing === 'length' ? length : 0
    this.done = framing === 'none' || (framing === 'length' && length === 0)
  }

  /** Moves on from `at`, at most to the end of one run of data, and returns the offset behind what it read. */
  next(bytes: Buffer, at: number): number {
    this.from = this.to = at
    if (this.framing === 'chunked') return this.#chunked(bytes, at)
    if (this.framing === 'none') return at
    const available = bytes.length - at
    if (this.framing === 'close') return (this.to = at + available)
    return this.#data(available, at)
  }

  /** Tells the reader that the peer ended the connection: the clean end of a `close` body, a truncation of any other. */
  end(): void {
    if (this.framing === 'close') this.done = true
    else if (!this.done) this.faulty = true
  }

  /** Takes one trailer field, and keeps it if it may go on; false for one that frames the message. Part of parsing, not for callers. */
  field(name: string, value: string, id: FieldId): boolean {
    if (crosses(id) && this.#mayComeLate(name.toLowerCase())) (this.trailers ??= []).push(name, value)
    return id !== field.contentLength && id !== field.transferEncoding
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
    let at = start
    while (at < bytes.length) {
      if (this.#state === chunk.data) {
        this.from = at
        return this.#data(bytes.length - at, at)
      }
      if (this.#state === chunk.trailer) return this.#trailer(bytes, at)
      if (!this.#framingByte(bytes[at]!)) {
        this.faulty = true
        break
      }
      at++
    }
    this.from = this.to = at
    return at
  }

  /** Takes one byte of a chunk's frame; false when it may not stand there. */
  #framingByte(byte: number): boolean {
    switch (this.#state) {
      case chunk.size:
        return this.#sizeByte(byte)
      case chunk.extension:
        if (byte === CR) this.#state = chunk.sizeLf
        else return isFieldByte[byte] === 1 && ++this.#overhead <= OVERHEAD_LIMIT
        return true
      case chunk.sizeLf:
        this.#state = this.#remaining === 0 ? chunk.trailer : chunk.data
        this.#digits = 0
        return byte === LF
      case chunk.dataCr:
        this.#state = chunk.dataLf
        return byte === CR
      default:
        this.#state = chunk.size
        return byte === LF
    }
  }

  #sizeByte(byte: number): boolean {
    const digit = hexValue[byte]!
    if (digit !== 255) {
      this.#remaining = this.#remaining * 16 + digit
      return ++this.#digits <= LARGEST_CHUNK_DIGITS
    }
    // The grammar allows white space before the semicolon, and only smugglers send it.
    this.#state = byte === CR ? chunk.sizeLf : chunk.extension
    return this.#digits > 0 && (byte === CR || byte === SEMICOLON)
  }

  #trailer(bytes: Buffer, at: number): number {
    const before = this.#partialTrailer
    const section = before === null ? bytes.subarray(at) : Buffer.concat([before, bytes.subarray(at)])
    const end = endOfTrailer(section)
    if (end === -1) {
      this.#partialTrailer = Buffer.from(section)
      this.faulty = section.length > OVERHEAD_LIMIT || !mayContinue(section, 0)
      return this.#rest(bytes.length)
    }
    const text = section.toString('latin1', 0, end)
    this.faulty = end > OVERHEAD_LIMIT || !readFieldLines(section, text, 0, 0, end, this)
    this.done = !this.faulty
    this.#partialTrailer = null
    return this.#rest(at + end - (before === null ? 0 : before.length))
  }

  /** An underscore may stand for a hyphen, since some origins fold one into the other. */
  #mayComeLate(name: string): boolean {
    return !this.#hopByHop?.has(name) && !SPENT_BEFORE_BODY.has(name.replaceAll('_', '-'))
  }

  #rest(at: number): number {
    this.from = this.to = at
    return at
  }
}

/** Fields that control, route or authenticate a message, beside those that never cross: too late behind its body (RFC 9110 section 6.5.1). */
const SPENT_BEFORE_BODY = new Set([
  'age',
  'authorization',
  'cache-control',
  'content-encoding',
  'content-range',
  'content-type',
  'cookie',
  'date',
  'expires',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'location',
  'max-forwards',
  'pragma',
  'range',
  'retry-after',
  'set-cookie',
  'trailer',
  'vary',
  'warning',
  'www-authenticate',
])

/** Finds the end of a trailer section, which is only an empty line when there are no trailers. */
function endOfTrailer(section: Buffer): number {
  if (section[0] === CR && section[1] === LF) return 2
  return endOfHead(section, 0)
}
