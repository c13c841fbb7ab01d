// Checks the DATA frames of an origin (RFC 9113 section 6.1), and removes the padding.

import { flag } from '../frames/frames.ts'
import type { Inflow } from './inflow.ts'
import type { SessionCalls } from './session-calls.ts'
import type { SessionParts } from './session-parts.ts'
import type { ClientStream } from './stream.ts'
import type { Streams } from './streams.ts'

/** Smaller frames for a finished stream count as carrying nothing; its window bounds larger ones. */
const minStray = 256

export class DataFrames {
  readonly #session: SessionCalls
  readonly #streams: Streams
  readonly #inflow: Inflow
  /** Null if the stream is not wanted; the padding is -1 until its length is known. */
  #stream: ClientStream | null = null
  #endsStream = false
  #padding = 0
  #left = 0

  constructor(session: SessionCalls, { streams, inflow }: SessionParts) {
    this.#session = session
    this.#streams = streams
    this.#inflow = inflow
  }

  begin(id: number, flags: number, length: number): boolean {
    this.#endsStream = (flags & flag.endStream) !== 0
    const stream = this.#takeWindow(id, length)
    if (stream === false) return false
    const isPadded = (flags & flag.padded) !== 0
    if (isPadded && length === 0) return this.#session.fail('frame_size')
    this.#padding = isPadded ? -1 : 0
    this.#left = length
    this.#stream = isPadded ? stream : this.#allowed(stream, length)
    return !this.#session.isClosed
  }

  part(bytes: Buffer, at: number, end: number, isLast: boolean): void {
    if (this.#padding === -1) at = this.#readPadding(bytes, at)
    const stream = this.#stream
    if (this.#session.isClosed || stream === null) return
    const to = Math.min(end, at + this.#left)
    this.#left -= to - at
    if (to > at) this.#inflow.take(stream, bytes.subarray(at, to))
    if (isLast && this.#endsStream && !stream.isOver) this.#streams.end(stream, null)
  }

  #readPadding(bytes: Buffer, at: number): number {
    const stream = this.#stream
    this.#padding = bytes[at]!
    const length = this.#left - 1 - this.#padding
    this.#left = length
    if (length < 0) this.#session.fail('protocol')
    else if (stream !== null) {
      this.#stream = this.#allowed(stream, length)
      // Padding is given back without being read: a body of padding alone would stop at its window.
      if (!stream.isOver && !this.#endsStream) this.#inflow.giveBack(stream, this.#padding + 1)
    }
    return at + 1
  }

  /** Returns the stream, null if it is over, or false if the session failed. */
  #takeWindow(id: number, length: number): ClientStream | null | false {
    const stream = this.#streams.find(id)
    if (stream === false) return false
    if (!this.#inflow.spend(stream, length)) return this.#session.fail('flow_control')
    if (stream === null && length < minStray) this.#session.spendControl()
    return this.#session.isClosed ? false : stream
  }

  /** Null, and fails the stream, if its response may not have so many more bytes. */
  #allowed(stream: ClientStream | null, length: number): ClientStream | null {
    if (stream === null) return null
    const isEnd = this.#endsStream
    if (length === 0 && !isEnd) this.#session.spendControl()
    if (this.#session.isClosed) return null
    if (!stream.hasHead) return this.#streams.spoil(stream, 'bad_head')
    if (length > 0 && !stream.mayHaveBody) return this.#streams.spoil(stream, 'bad_framing')
    if (stream.remaining === -1) return stream
    stream.remaining -= length
    const isWrong = stream.remaining < 0 || (isEnd && stream.remaining > 0)
    return isWrong ? this.#streams.spoil(stream, 'bad_framing') : stream
  }
}
