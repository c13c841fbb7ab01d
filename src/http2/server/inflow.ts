// Receives all request bodies of a connection within the windows that we grant (RFC 9113 section 5.2).

import type { Allowance } from './allowance.ts'
import type { FrameWriter } from '../frames/frame-writer.ts'
import { errorCode, flag } from '../frames/frames.ts'
import { firstWindow } from '../frames/peer-settings.ts'
import type { FaultTaker, SessionParts } from './session-parts.ts'
import type { SessionUser } from './session-user.ts'
import type { Stream } from './stream.ts'
import type { Streams } from './streams.ts'

/** Bytes of all bodies together; of each, a client may send the first window until it is read. */
const connectionWindow = 1024 * 1024

export class Inflow<Owner> {
  readonly #session: FaultTaker<Owner>
  readonly #user: SessionUser<Owner>
  readonly #writer: FrameWriter
  readonly #streams: Streams<Owner>
  readonly #allowance: Allowance
  #window = connectionWindow

  #flags = 0
  /** Null if its bytes are dropped; the padding is -1 until it is known. */
  #stream: Stream<Owner> | null = null
  #padding = 0
  #left = 0

  constructor(session: FaultTaker<Owner>, { user, writer, streams, allowance }: SessionParts<Owner>) {
    this.#session = session
    this.#user = user
    this.#writer = writer
    this.#streams = streams
    this.#allowance = allowance
  }

  open(): void {
    this.#writer.windowUpdate(0, connectionWindow - firstWindow)
  }

  begin(id: number, flags: number, length: number): boolean {
    const session = this.#session
    if (id === 0) return session.fail('protocol', errorCode.protocol, 'DATA on stream 0')
    this.#window -= length
    if (this.#window < connectionWindow / 2) this.#widenConnection()
    if (length === 0 && (flags & flag.endStream) === 0 && !this.#allowance.spendControl()) return false
    this.#padding = (flags & flag.padded) === 0 ? 0 : -1
    if (this.#padding === -1 && length === 0)
      return session.fail('protocol', errorCode.frameSize, 'DATA without its padding')
    const stream = this.#streams.get(id)
    this.#flags = flags
    this.#left = length
    this.#stream = stream ?? null
    return stream === undefined ? this.#ofClosed(id) : this.#takeWindow(stream, length)
  }

  /** Drops what was on its way to a stream that we have reset. */
  #ofClosed(id: number): boolean {
    if (this.#streams.isIdle(id))
      return this.#session.fail('protocol', errorCode.protocol, 'DATA on an idle stream')
    const streamEnd = this.#streams.endOf(id)
    if (streamEnd === 'reset_by_us') return true
    if (streamEnd === 'ended')
      return this.#session.fail('protocol', errorCode.streamClosed, 'DATA on a closed stream')
    // An error of the stream alone: requests on other streams go on.
    this.#writer.rstStream(id, errorCode.streamClosed)
    return this.#allowance.spendControl()
  }

  #takeWindow(stream: Stream<Owner>, length: number): boolean {
    let goesOn = true
    if (stream.isRequestWhole) goesOn = this.#session.streamError(stream, errorCode.streamClosed)
    else if ((stream.receiveWindow -= length) < 0)
      goesOn = this.#session.streamError(stream, errorCode.flowControl)
    else if (stream.lingersUntil > 0) this.#lingerOn(stream, length)
    if (stream.isClosed) this.#stream = null
    return goesOn
  }

  #lingerOn(stream: Stream<Owner>, length: number): void {
    if ((this.#flags & flag.endStream) !== 0) this.#streams.drop(stream, 'ended')
    else this.#giveBack(stream, length)
  }

  part(bytes: Buffer, at: number, end: number, isLast: boolean): void {
    this.#left -= end - at
    if (this.#padding === -1 && at < end && !this.#padded(bytes[at++]!, end - at)) return
    const stream = this.#stream
    if (stream === null || stream.isClosed) return
    const to = Math.max(at, end - Math.max(0, this.#padding - this.#left))
    if (to > at) this.#body(stream, bytes, at, to)
    if (isLast && !stream.isClosed && (this.#flags & flag.endStream) !== 0) this.requestWhole(stream, null)
  }

  requestWhole(stream: Stream<Owner>, trailers: readonly string[] | null): void {
    if (stream.bodyLeft > 0) return void this.#session.streamError(stream, errorCode.protocol)
    stream.isRequestWhole = true
    stream.requestTrailers = trailers
    if (stream.isBodyWanted) this.#end(stream)
  }

  read(stream: Stream<Owner>): void {
    if (stream.isClosed || stream.isBodyWanted || stream.isBodyOver) return
    stream.isBodyWanted = true
    const held = stream.takeHeld()
    if (held !== null) {
      this.#giveBack(stream, held.length)
      this.#user.body(stream, held)
    }
    if (stream.isRequestWhole && stream.isBodyWanted && !stream.isClosed) this.#end(stream)
  }

  discard(stream: Stream<Owner>): void {
    this.#giveBack(stream, firstWindow - stream.receiveWindow - stream.toGiveBack)
  }

  #end(stream: Stream<Owner>): void {
    stream.isBodyOver = true
    this.#user.bodyEnd(stream, stream.requestTrailers)
  }

  /** `here` bytes of the frame have arrived after the length. */
  #padded(length: number, here: number): boolean {
    this.#padding = length
    const rest = this.#left + here - length
    if (rest < 0) return this.#session.fail('protocol', errorCode.protocol, 'more padding than DATA')
    if (rest === 0 && (this.#flags & flag.endStream) === 0 && !this.#allowance.spendControl()) return false
    if (this.#stream !== null) this.#giveBack(this.#stream, length + 1)
    return true
  }

  #body(stream: Stream<Owner>, bytes: Buffer, at: number, end: number): void {
    const length = end - at
    if (stream.bodyLeft !== -1 && (stream.bodyLeft -= length) < 0)
      return void this.#session.streamError(stream, errorCode.protocol)
    if (!stream.isBodyWanted) return stream.hold(bytes, at, end)
    this.#giveBack(stream, length)
    this.#user.body(stream, at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end))
  }

  #giveBack(stream: Stream<Owner>, length: number): void {
    stream.toGiveBack += length
    if (stream.toGiveBack < firstWindow / 2 || stream.isRequestWhole) return
    this.#writer.windowUpdate(stream.id, stream.toGiveBack)
    stream.receiveWindow += stream.toGiveBack
    stream.toGiveBack = 0
  }

  #widenConnection(): void {
    this.#writer.windowUpdate(0, connectionWindow - this.#window)
    this.#window = connectionWindow
  }
}
