// Compares repeated heads and field lines of a connection as bytes, instead of parsing them again.

import { colon, htab, lf, sp } from '../fields/characters.ts'
import { field } from '../fields/fields.ts'
import { type HeadLimits, parseRequestHead, RequestHead, settle } from './request-head.ts'
import { type HeadFault, readRequestLine } from './request-line.ts'

const maxBytes = 4096
/** After so many different heads the connection probably carries many clients. */
const maxMisses = 8

export class RepeatedHead {
  #head: RequestHead | null = null
  /** A head, whose lines begin at `#lines` and have `#size` bytes with the empty one. */
  #bytes: Buffer = noBytes
  #lines = 0
  #size = 0
  #limits: HeadLimits | null = null
  /** The index of the Content-Length line, -1 for none, and where its digits are, or the end of the lines. */
  #length = -1
  #digits = 0
  #digitsEnd = 0
  /** The first head is not remembered, so that a connection for one request takes no memory for it. */
  #misses = -1

  /** The bytes of the head that `repeated` returns. */
  get size(): number {
    return this.#lines + this.#size
  }

  /** Returns the previous head if all its bytes come again at `start`. */
  repeated(bytes: Buffer, start: number, limits: HeadLimits): RequestHead | null {
    const { size } = this
    const head = this.#head
    if (head === null || limits !== this.#limits || bytes.length - start < size) return null
    return bytes.compare(this.#bytes, 0, size, start, start + size) === 0 ? head.repeated() : null
  }

  parse(bytes: Buffer, start: number, end: number, limits: HeadLimits): RequestHead | HeadFault {
    const repeated = this.#head === null ? null : this.#parseAgain(this.#head, bytes, start, end, limits)
    if (repeated !== null) return repeated
    const head = parseRequestHead(bytes, start, end, limits)
    if (this.#misses < maxMisses && ++this.#misses > 0) this.#remember(bytes, start, end, head, limits)
    return head
  }

  #parseAgain(
    last: RequestHead,
    bytes: Buffer,
    start: number,
    end: number,
    limits: HeadLimits,
  ): RequestHead | HeadFault | null {
    const digitsEnd = end - this.#size + this.#digitsEnd
    const digits = startOfDigits(bytes, start, digitsEnd)
    const linesAt = digits - this.#digits
    if (linesAt <= start) return null
    if (!this.#hasSame(bytes, 0, this.#digits, linesAt)) return null
    if (digitsEnd < end && !this.#hasSame(bytes, this.#digitsEnd, this.#size, digitsEnd)) return null
    if (end - start > limits.headerSection || last.ids.length > limits.headers) return null
    const head = new RequestHead()
    if (readRequestLine(bytes, bytes.toString('latin1', start, linesAt), start, head) !== linesAt) return null
    if (head.target.length > limits.url) return null
    head.takeLines(last)
    const hasSameLength = this.#hasSameDigits(bytes, digits, digitsEnd)
    if (!hasSameLength && !head.takeLength(bytes.toString('latin1', digits, digitsEnd), this.#length))
      return null
    this.#misses = 0
    const settled = settle(head)
    if (hasSameLength && settled === head && isPathAfter(head.method, bytes, start))
      this.#keep(head, bytes, start, linesAt, limits)
    return settled
  }

  /** Whether bytes of the lines, counted from their start, are at `at`. */
  #hasSame(bytes: Buffer, from: number, to: number, at: number): boolean {
    return bytes.compare(this.#bytes, this.#lines + from, this.#lines + to, at, at + to - from) === 0
  }

  #hasSameDigits(bytes: Buffer, digits: number, digitsEnd: number): boolean {
    const hasSameCount = digitsEnd - digits === this.#digitsEnd - this.#digits
    return hasSameCount && this.#hasSame(bytes, this.#digits, this.#digitsEnd, digits)
  }

  /** Not for an absolute target, which replaces Host, nor for an upgrade, which depends on the version. */
  #remember(
    bytes: Buffer,
    start: number,
    end: number,
    head: RequestHead | HeadFault,
    limits: HeadLimits,
  ): void {
    if (typeof head === 'string' || end - start > maxBytes || head.ids.includes(field.upgrade)) return
    if (!isPathAfter(head.method, bytes, start)) return
    const linesAt = bytes.indexOf(lf, start) + 1
    const size = end - linesAt
    this.#size = size
    this.#length = head.ids.indexOf(field.contentLength)
    this.#digits = this.#length === -1 ? size : valueAt(bytes, linesAt, this.#length) - linesAt
    this.#digitsEnd = this.#length === -1 ? size : this.#digits + head.fields[2 * this.#length + 1]!.length
    this.#keep(head, bytes, start, linesAt, limits)
  }

  #keep(head: RequestHead, bytes: Buffer, start: number, linesAt: number, limits: HeadLimits): void {
    const size = linesAt - start + this.#size
    if (size > maxBytes) return
    if (this.#bytes.length < size) this.#bytes = Buffer.allocUnsafeSlow(size)
    bytes.copy(this.#bytes, 0, start, start + size)
    this.#lines = linesAt - start
    this.#head = head
    this.#limits = limits
  }
}

function startOfDigits(bytes: Buffer, start: number, end: number): number {
  let at = end
  while (at > start && bytes[at - 1]! >= zero && bytes[at - 1]! <= nine) at--
  return at
}

function isPathAfter(method: string, bytes: Buffer, start: number): boolean {
  return bytes[start + method.length + 1] === slash
}

function valueAt(lines: Buffer, from: number, place: number): number {
  let at = from
  for (let i = 0; i < place; i++) at = lines.indexOf(lf, at) + 1
  at = lines.indexOf(colon, at) + 1
  while (lines[at] === sp || lines[at] === htab) at++
  return at
}

const noBytes = Buffer.alloc(0)
const slash = 0x2f
const zero = 0x30
const nine = 0x39
