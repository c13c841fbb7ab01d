// Rewrites an event stream by whole events, however its bytes arrive.

import { GrowingBytes } from '../wire/growing-bytes.ts'
import type { Rewriter } from './rewriter.ts'

export class CompleteEvents implements Rewriter {
  readonly holdsHead = false
  readonly #maxEvent: number
  readonly #rewrite: (events: Buffer) => Buffer | null
  #partial: GrowingBytes | null = null

  /** Events of more than so many bytes are passed on as they are. */
  constructor(maxEvent: number, rewrite: (events: Buffer) => Buffer | null) {
    this.#maxEvent = maxEvent
    this.#rewrite = rewrite
  }

  push(bytes: Buffer): Buffer | null {
    const partial = this.#partial
    if (partial === null) return this.#take(bytes, 0)
    // However small the pieces are, each byte is searched once.
    const from = Math.max(0, partial.size - maxSeparator + 1)
    partial.append(bytes)
    return this.#take(partial.bytes, from)
  }

  end(): Buffer | null {
    const partial = this.#partial
    return partial === null || partial.size === 0 ? null : this.#rewrite(partial.bytes)
  }

  /** No event ends before `from`. */
  #take(all: Buffer, from: number): Buffer | null {
    const end = endOfEvents(all, from)
    const left = all.length - end
    if (end === 0 && left <= this.#maxEvent) {
      if (this.#partial === null) this.#hold(all)
      return null
    }
    this.#partial = null
    const complete = left > this.#maxEvent ? all : all.subarray(0, end)
    if (complete.length < all.length) this.#hold(all.subarray(end))
    return this.#rewrite(complete)
  }

  #hold(bytes: Buffer): void {
    this.#partial = new GrowingBytes()
    this.#partial.append(bytes)
  }
}

export function eventsIn(bytes: Buffer): readonly Buffer[] {
  const events: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = endOfFirst(bytes, at)
    events.push(bytes.subarray(at, end))
    at = end
  }
  return events
}

/** 0 for none (WHATWG HTML, section 9.2.5). No event ends before `from`. */
function endOfEvents(bytes: Buffer, from: number): number {
  const unsearched = bytes.subarray(from)
  let end = 0
  for (const separator of separators) {
    const at = unsearched.lastIndexOf(separator)
    if (at !== -1) end = Math.max(end, from + at + separator.length)
  }
  // The byte behind it may belong to it.
  const at = unsearched.subarray(0, -1).lastIndexOf(mixed)
  return at === -1 ? end : Math.max(end, endOfMixed(bytes, from + at))
}

function endOfFirst(bytes: Buffer, from: number): number {
  let end = bytes.length
  for (const separator of separators) {
    const at = bytes.indexOf(separator, from)
    if (at !== -1) end = Math.min(end, at + separator.length)
  }
  const at = bytes.indexOf(mixed, from)
  return at === -1 ? end : Math.min(end, endOfMixed(bytes, at))
}

function endOfMixed(bytes: Buffer, at: number): number {
  const end = at + mixed.length
  return bytes[end] === lf ? end + 1 : end
}

const separators = ['\n\n', '\r\r'].map(separator => Buffer.from(separator))
/** Of a line that ends with LF or CRLF, and a blank one that ends with CR or CRLF. */
const mixed = Buffer.from('\n\r')
const maxSeparator = 3
const lf = 0x0a
