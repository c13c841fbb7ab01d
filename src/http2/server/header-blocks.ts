// Takes the header blocks of a client: each begins a request, or is the trailer section of one.

import type { Allowance } from './allowance.ts'
import { errorCode, flag } from '../frames/frames.ts'
import type { BlockLimits } from '../frames/header-block.ts'
import type { BlockTaker } from '../session/incoming-frames.ts'
import { type FieldSink, HpackDecoder } from '../hpack/decoder.ts'
import type { Inflow } from './inflow.ts'
import { firstWindow, type PeerSettings } from '../frames/peer-settings.ts'
import { RequestFields } from './request-fields.ts'
import type { FaultTaker, SessionParts } from './session-parts.ts'
import type { SessionUser } from './session-user.ts'
import { Stream } from './stream.ts'
import type { Streams } from './streams.ts'
import { nobody, TrailerFields } from '../frames/trailer-fields.ts'
import { type TurnWork, workOfRequest } from '../frames/turn-work.ts'

const maxBlockFrames = 64
/**
 * Bytes by which a list may exceed its limit and still be refused as a request. Beyond that, its block
 * repeats long fields of the table, to cost us more than it has sent.
 */
const maxExcess = 512 * 1024

export class HeaderBlocks<Owner> implements BlockTaker {
  requestCount = 0
  readonly #session: FaultTaker<Owner>
  readonly #user: SessionUser<Owner>
  readonly #streams: Streams<Owner>
  readonly #inflow: Inflow<Owner>
  readonly #allowance: Allowance
  readonly #peer: PeerSettings
  readonly #work: TurnWork
  readonly #decoder = new HpackDecoder()
  readonly #fields = new RequestFields()

  constructor(
    session: FaultTaker<Owner>,
    { user, streams, allowance, peer, work }: SessionParts<Owner>,
    inflow: Inflow<Owner>,
  ) {
    this.#session = session
    this.#user = user
    this.#streams = streams
    this.#inflow = inflow
    this.#allowance = allowance
    this.#peer = peer
    this.#work = work
  }

  get blockLimits(): BlockLimits {
    return { bytes: this.#user.limits.headerSection, frames: maxBlockFrames }
  }

  begun(): void {
    this.#allowance.headBegun(this.#user.headTimeout)
  }

  tooLarge(): false {
    return this.#session.fail('header_block', errorCode.enhanceYourCalm, 'a header block that is too large')
  }

  block(id: number, flags: number, bytes: Buffer, at: number, end: number): void {
    this.#allowance.headWhole()
    const isLast = (flags & flag.endStream) !== 0
    const stream = this.#streams.get(id)
    if (stream !== undefined) return this.#trailers(stream, isLast, bytes, at, end)
    if (id % 2 === 0)
      return void this.#session.fail('protocol', errorCode.protocol, 'a stream with an even number')
    if (id <= this.#streams.highest) return this.#ofClosed(id, bytes, at, end)
    this.#streams.highest = id
    this.#work.left -= workOfRequest
    this.#fields.begin(this.#user.limits)
    const size = this.#decode(bytes, at, end, this.#fields)
    if (size !== -1) this.#begin(id, isLast, size)
  }

  #decode(bytes: Buffer, at: number, end: number, sink: FieldSink): number {
    const { headerSection } = this.#user.limits
    const bearable = headerSection + maxExcess
    const size = this.#decoder.decode(bytes, at, end, headerSection, sink, bearable)
    if (size === -1) this.#session.fail('protocol', errorCode.compression, 'a header block that is none')
    if (size <= bearable) return size
    const detail = 'a header block that unpacks to too much'
    this.#session.fail('header_block', errorCode.enhanceYourCalm, detail)
    return -1
  }

  #begin(id: number, isWhole: boolean, size: number): void {
    if (!this.#streams.admits(id)) {
      this.#streams.refuse(id)
      return void this.#allowance.spendReset()
    }
    const fields = this.#fields
    fields.settle(size, this.#user.limits)
    const { head, fault } = fields
    const stream = new Stream<Owner>(id, isWhole, firstWindow, this.#peer.initialWindow)
    this.#streams.add(stream)
    if (fields.isMalformed || (isWhole && head.contentLength > 0 && fault === null))
      return void this.#session.streamError(stream, errorCode.protocol, false)
    stream.isTunnel = fields.isTunnel
    stream.hasKey = fields.hasKey
    // A tunnel has an end to hand over even if nothing else comes.
    if (stream.isTunnel) stream.isBodyOver = false
    stream.bodyLeft = head.contentLength
    this.requestCount++
    this.#allowance.earnByFrame()
    this.#user.begin(stream, head, fault)
  }

  #trailers(stream: Stream<Owner>, isLast: boolean, bytes: Buffer, at: number, end: number): void {
    const sink = new TrailerFields()
    const size = this.#decode(bytes, at, end, sink)
    if (size === -1) return
    if (stream.isRequestWhole) return void this.#session.streamError(stream, errorCode.streamClosed)
    if (stream.lingersUntil > 0) return this.#streams.drop(stream, 'ended')
    const isTooLarge = size > this.#user.limits.headerSection
    // A tunnel carries only DATA (RFC 9113 section 8.5).
    if (sink.isMalformed || isTooLarge || !isLast || stream.isTunnel)
      return void this.#session.streamError(stream, errorCode.protocol)
    this.#inflow.requestWhole(stream, sink.fields)
  }

  #ofClosed(id: number, bytes: Buffer, at: number, end: number): void {
    const closing = this.#streams.endOf(id)
    if (closing === null)
      return void this.#session.fail('protocol', errorCode.protocol, 'a stream with a lower number')
    if (closing !== 'reset_by_us')
      return void this.#session.fail('protocol', errorCode.streamClosed, 'HEADERS on a closed stream')
    if (this.#decode(bytes, at, end, nobody) !== -1) this.#allowance.spendControl()
  }
}
