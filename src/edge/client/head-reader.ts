// Finds request heads in what a client sends, however it is cut into packets, and refuses at once what can't become one.

import { endOfHead, mayContinue } from '../../http1/fields/field-lines.ts'
import { RepeatedHead } from '../../http1/heads/repeated-head.ts'
import { type HeadLimits, overLimit, type RequestHead, startsBadly } from '../../http1/heads/request-head.ts'
import type { HeadFault } from '../../http1/heads/request-line.ts'

/** Empty lines that may precede a request line, as some clients send them after a body (RFC 9112 section 2.2). */
const mostEmptyLines = 4

export class HeadReader {
  readonly #parser = new RepeatedHead()
  /** How much of an unfinished head has been looked through. */
  #scanned = 0
  /** Whether the request line of an unfinished head is there and was found good. */
  #hasLine = false

  /** Whether part of a head has come. */
  get hasBegun(): boolean {
    return this.#scanned > 0
  }

  /** Reads the head that `bytes` begin with; null while it is not complete: once it has begun, to be called with the same bytes and more. */
  read(bytes: Buffer, limits: HeadLimits): RequestHead | HeadFault | null {
    const start = skipEmptyLines(bytes)
    const end = endOfHead(bytes, Math.max(start, this.#scanned - 3))
    if (end === -1) return this.#wait(bytes, start, limits)
    this.#scanned = 0
    this.#hasLine = false
    return this.#parser.parse(bytes, start, end, limits)
  }

  #wait(bytes: Buffer, start: number, limits: HeadLimits): HeadFault | null {
    const fault = overLimit(bytes, start, limits) ?? (this.#hasLine ? null : startsBadly(bytes, start))
    if (fault !== null) return fault
    this.#hasLine ||= bytes.includes('\r\n', start)
    if (!mayContinue(bytes, Math.max(start, this.#scanned - 1))) return 'bad_request'
    this.#scanned = start === bytes.length ? 0 : bytes.length
    return null
  }
}

function skipEmptyLines(bytes: Buffer): number {
  let at = 0
  while (at < mostEmptyLines * 2 && bytes[at] === 0x0d && bytes[at + 1] === 0x0a) at += 2
  return at
}
