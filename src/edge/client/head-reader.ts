// Finds request heads in what a client sends, and refuses early what cannot become one.

import { endOfHead, mayContinue } from '../../http1/fields/field-lines.ts'
import { RepeatedHead } from '../../http1/heads/repeated-head.ts'
import { type HeadLimits, overLimit, type RequestHead, startsBadly } from '../../http1/heads/request-head.ts'
import type { HeadFault } from '../../http1/heads/request-line.ts'

/** Some clients send empty lines after a body (RFC 9112 section 2.2). */
const maxEmptyLines = 4

export class HeadReader {
  readonly #parser = new RepeatedHead()
  #scanned = 0
  #hasLine = false
  /** The offset after the head that was read last. */
  end = 0

  get hasBegun(): boolean {
    return this.#scanned > 0
  }

  /** Null while the head is incomplete; then the next call must pass the same bytes and more. */
  read(bytes: Buffer, limits: HeadLimits): RequestHead | HeadFault | null {
    const start = skipEmptyLines(bytes)
    const repeated = this.#parser.repeated(bytes, start, limits)
    const end =
      repeated === null ? endOfHead(bytes, Math.max(start, this.#scanned - 3)) : start + this.#parser.size
    if (end === -1) return this.#wait(bytes, start, limits)
    this.#scanned = 0
    this.#hasLine = false
    this.end = end
    return repeated ?? this.#parser.parse(bytes, start, end, limits)
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
  while (at < maxEmptyLines * 2 && bytes[at] === 0x0d && bytes[at + 1] === 0x0a) at += 2
  return at
}
