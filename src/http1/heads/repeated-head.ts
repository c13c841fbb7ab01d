// Compares repeated field lines of a connection as bytes, instead of parsing them again.

import { colon, htab, lf, sp } from '../fields/characters.ts'
import { field } from '../fields/fields.ts'
import { type HeadLimits, parseRequestHead, RequestHead, settle } from './request-head.ts'
import { type HeadFault, readRequestLine } from './request-line.ts'

const maxBytes = 4096
/** After so many different heads the connection probably carries many clients. */
const maxMisses = 8

export class RepeatedHead {
  #head: RequestHead | null = null
  /** Includes the empty line; in the first `#size` bytes. */
  #lines: Buffer = noBytes
  #size = 0
  /** The index of the Content-Length line, -1 for none, and where its digits are, or the end of the lines. */
  #length = -1
  #digits = 0
  #digitsEnd = 0
  /** The first head is not remembered, so that a connection for one request takes no memory for it. */
  #misses = -1

  parse(bytes: Buffer, start: number, end: number, limits: HeadLimits): RequestHead | HeadFault {
    const repeated = this.#head === null ? null : this.#parseAgain(this.#head, bytes, start, end, limits)
    if (repeated !== null) return repeated
    const head = parseRequestHead(bytes, start, end, limits)
    if (this.#misses < maxMisses && ++this.#misses > 0) this.#remember(bytes, start, end, head)
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
    const digits = this.#length === -1 ? digitsEnd : startOfDigits(bytes, start, digitsEnd)
    const linesAt = digits - this.#digits
    if (linesAt <= start) return null
    if (bytes.compare(this.#lines, 0, this.#digits, linesAt, digits) !== 0) return null
    if (digitsEnd < end && bytes.compare(this.#lines, this.#digitsEnd, this.#size, digitsEnd, end) !== 0)
      return null
    if (end - start > limits.headerSection || last.ids.length > limits.headers) return null
    const head = new RequestHead()
    if (readRequestLine(bytes, bytes.toString('latin1', start, linesAt), start, head) !== linesAt) return null
    if (head.target.length > limits.url) return null
    head.takeLines(last)
    if (this.#length !== -1 && !this.#hasSameDigits(bytes, digits, digitsEnd)) {
      const value = bytes.toString('latin1', digits, digitsEnd)
      if (!head.takeLength(value, this.#length)) return null
    }
    head.end = end
    this.#misses = 0
    return settle(head)
  }

  #hasSameDigits(bytes: Buffer, digits: number, digitsEnd: number): boolean {
    if (digitsEnd - digits !== this.#digitsEnd - this.#digits) return false
    for (let i = digits; i < digitsEnd; i++)
      if (bytes[i] !== this.#lines[this.#digits + i - digits]) return false
    return true
  }

  /** Not for an absolute target, which replaces Host, nor for an upgrade, which depends on the version. */
  #remember(bytes: Buffer, start: number, end: number, head: RequestHead | HeadFault): void {
    const linesAt = bytes.indexOf(lf, start) + 1
    const size = end - linesAt
    if (typeof head === 'string' || size > maxBytes || head.ids.includes(field.upgrade)) return
    if (bytes[start + head.method.length + 1] !== slash) return
    if (this.#lines.length < size) this.#lines = Buffer.allocUnsafeSlow(size)
    bytes.copy(this.#lines, 0, linesAt, end)
    this.#size = size
    this.#length = head.ids.indexOf(field.contentLength)
    this.#digits = this.#length === -1 ? size : valueAt(this.#lines, this.#length)
    this.#digitsEnd = this.#length === -1 ? size : this.#digits + head.fields[2 * this.#length + 1]!.length
    this.#head = head
  }
}

function startOfDigits(bytes: Buffer, start: number, end: number): number {
  let at = end
  while (at > start && bytes[at - 1]! >= zero && bytes[at - 1]! <= nine) at--
  return at
}

function valueAt(lines: Buffer, place: number): number {
  let at = 0
  for (let i = 0; i < place; i++) at = lines.indexOf(lf, at) + 1
  at = lines.indexOf(colon, at) + 1
  while (lines[at] === sp || lines[at] === htab) at++
  return at
}

const noBytes = Buffer.alloc(0)
const slash = 0x2f
const zero = 0x30
const nine = 0x39
