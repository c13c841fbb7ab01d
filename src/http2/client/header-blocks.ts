// Header blocks of an origin: an interim response, the head of the final one, or its trailer section.

import { flag } from '../frames/frames.ts'
import type { BlockLimits } from '../frames/header-block.ts'
import type { BlockTaker } from '../session/incoming-frames.ts'
import { HpackDecoder } from '../hpack/decoder.ts'
import { nobody, TrailerFields } from '../frames/trailer-fields.ts'
import type { TurnWork } from '../frames/turn-work.ts'
import type { Inflow } from './inflow.ts'
import { ResponseFields } from './response-fields.ts'
import type { SessionCalls } from './session-calls.ts'
import type { SessionParts } from './session-parts.ts'
import type { ClientStream } from './stream.ts'
import type { Streams } from './streams.ts'

/** Bytes, as over HTTP/1.1: decoded, plus 32 for each field. */
export const maxHead = 64 * 1024
/** Up to there a block is read for the sake of the compression table, and fails only its stream. */
const blockLimits = { bytes: 4 * maxHead, frames: 32 }
/** How many frames a block counts as in its turn. */
const workOfBlock = 16
/** How many frames that carry nothing an interim response counts as. */
const idleFramesOfInterim = 10

export class HeaderBlocks implements BlockTaker {
  readonly blockLimits = blockLimits
  readonly #session: SessionCalls
  readonly #streams: Streams
  readonly #inflow: Inflow
  readonly #work: TurnWork
  readonly #decoder = new HpackDecoder()

  constructor(session: SessionCalls, { streams, inflow, work }: SessionParts) {
    this.#session = session
    this.#streams = streams
    this.#inflow = inflow
    this.#work = work
  }

  begun(): void {}

  tooLarge(limit: keyof BlockLimits): false {
    return this.#session.fail(limit === 'bytes' ? 'head_too_large' : 'flood')
  }

  block(id: number, flags: number, bytes: Buffer, from: number, to: number): void {
    this.#work.left -= workOfBlock
    const isEnd = (flags & flag.endStream) !== 0
    const stream = this.#streams.find(id)
    if (stream === false) return
    if (stream === null) {
      this.#session.spendControl()
      if (this.#decoder.decode(bytes, from, to, 0, nobody) === -1) this.#session.fail('compression')
    } else if (stream.hasHead) this.#readTrailers(stream, isEnd, bytes, from, to)
    else this.#readHead(stream, isEnd, bytes, from, to)
  }

  #readHead(stream: ClientStream, isEnd: boolean, bytes: Buffer, from: number, to: number): void {
    const streams = this.#streams
    const fields = new ResponseFields()
    const size = this.#decoder.decode(bytes, from, to, maxHead, fields)
    if (size === -1) return void this.#session.fail('compression')
    if (size > maxHead) return void streams.spoil(stream, 'head_too_large')
    const { head } = fields
    head.neverIndexed = this.#decoder.hasNeverIndexed
    if (fields.isMalformed || head.status === 0) return void streams.spoil(stream, 'bad_head')
    if (head.fault === 'framing') return void streams.spoil(stream, 'bad_framing')
    if (head.status >= 200) return this.#takeHead(stream, fields, isEnd)
    if (isEnd) return void streams.spoil(stream, 'bad_head')
    // Each is passed on to the client, with any number of fields.
    if (this.#session.spendControl(idleFramesOfInterim)) stream.user.interim(head)
  }

  #takeHead(stream: ClientStream, { head }: ResponseFields, isEnd: boolean): void {
    const { method } = stream.user
    stream.hasHead = true
    stream.mayHaveBody = method !== 'HEAD' && head.status !== 204 && head.status !== 304
    if (stream.mayHaveBody) stream.remaining = head.contentLength
    const lacks = isEnd && stream.remaining > 0
    if (lacks || (head.status === 204 && head.contentLength > 0))
      return void this.#streams.spoil(stream, 'bad_framing')
    this.#inflow.touch(stream)
    // Otherwise a client of HTTP/1.1 would wait for the end of its connection.
    if (isEnd && stream.mayHaveBody) head.contentLength = 0
    stream.user.head(head, stream.mayHaveBody)
    if (isEnd && !stream.isOver) this.#streams.end(stream, null)
  }

  #readTrailers(stream: ClientStream, isEnd: boolean, bytes: Buffer, from: number, to: number): void {
    const streams = this.#streams
    const fields = new TrailerFields()
    const size = this.#decoder.decode(bytes, from, to, maxHead, fields)
    if (size === -1) return void this.#session.fail('compression')
    if (size > maxHead) return void streams.spoil(stream, 'head_too_large')
    if (fields.isMalformed || !isEnd || stream.remaining > 0) return void streams.spoil(stream, 'bad_framing')
    streams.end(stream, fields.fields)
  }
}
