// Takes the bodies of all requests of a connection within the windows that we grant (RFC 9113 section 5.2), and keeps what comes of those that nobody has asked for yet.

import type { FrameWriter } from './frame-writer.ts'
import { type ErrorCode, errorCode, flag } from './frames.ts'
import { firstWindow } from './peer-settings.ts'
import type { SessionFault } from './session-user.ts'
import type { Stream } from './stream.ts'

/** Bytes that a client may send of all bodies before it hears that they have come; of each, the first window, until they are asked for. */
const connectionWindow = 1024 * 1024

/** What is told of bodies, and of clients that break the rules for them. */
interface Receiver<Owner> {
  /** Bytes of a body that is asked for, a view into what was read. */
  received(stream: Stream<Owner>, bytes: Buffer): void
  /** All of a request has come; `trailers` are flat, null for none. */
  requestWhole(stream: Stream<Owner>, trailers: readonly string[] | null): void
  /** The rest of a request has come whose response was sent before. */
  lingered(stream: Stream<Owner>): void
  /** Takes one from the budget of frames that carry nothing; false where the session has failed for it. */
  spendControl(): boolean
  /** Resets a stream whose client has broken the rules for it; false where the session has failed for it. */
  streamError(stream: Stream<Owner>, code: ErrorCode): boolean
  /** Ends the session for a fault of the client; always false. */
  fail(fault: SessionFault, code: ErrorCode, detail: string): false
}

export class Inflow<Owner> {
  readonly #writer: FrameWriter
  readonly #receiver: Receiver<Owner>
  #window = connectionWindow

  // The frame that is being read.
  #flags = 0
  /** Its stream, null where its bytes are dropped; and its padding, -1 as long as that is to come. */
  #stream: Stream<Owner> | null = null
  #padding = 0
  #left = 0

  constructor(writer: FrameWriter, receiver: Receiver<Owner>) {
    this.#writer = writer
    this.#receiver = receiver
  }

  /** Opens the connection's window, behind the settings. */
  open(): void {
    this.#writer.windowUpdate(0, connectionWindow - firstWindow)
  }

  /** Begins a frame of a stream, null for one that is not open; false where the session has failed. */
  begin(stream: Stream<Owner> | null, flags: number, length: number): boolean {
    const receiver = this.#receiver
    this.#window -= length
    if (this.#window < 0)
      return receiver.fail('protocol', errorCode.flowControl, 'more DATA than the connection allows')
    if (this.#window < connectionWindow / 2) this.#widenConnection()
    if (length === 0 && (flags & flag.endStream) === 0 && !receiver.spendControl()) return false
    this.#padding = (flags & flag.padded) === 0 ? 0 : -1
    if (this.#padding === -1 && length === 0)
      return receiver.fail('protocol', errorCode.frameSize, 'DATA without its padding')
    this.#flags = flags
    this.#left = length
    this.#stream = stream
    return stream === null || this.#takeWindow(stream, length)
  }

  #takeWindow(stream: Stream<Owner>, length: number): boolean {
    let goesOn = true
    if (stream.isRequestWhole) goesOn = this.#receiver.streamError(stream, errorCode.streamClosed)
    else if ((stream.receiveWindow -= length) < 0)
      goesOn = this.#receiver.streamError(stream, errorCode.flowControl)
    else if (stream.lingersUntil > 0) this.#lingerOn(stream, length)
    if (stream.isClosed) this.#stream = null
    return goesOn
  }

  /** Drops what comes of a request whose response is sent. */
  #lingerOn(stream: Stream<Owner>, length: number): void {
    if ((this.#flags & flag.endStream) !== 0) this.#receiver.lingered(stream)
    else this.giveBack(stream, length)
  }

  /** Takes a part of the frame, its last one or not. */
  part(bytes: Buffer, at: number, end: number, isLast: boolean): void {
    this.#left -= end - at
    if (this.#padding === -1 && at < end && !this.#padded(bytes[at++]!, end - at)) return
    const stream = this.#stream
    if (stream === null || stream.isClosed) return
    const to = Math.max(at, end - Math.max(0, this.#padding - this.#left))
    if (to > at) this.#body(stream, bytes, at, to)
    if (isLast && !stream.isClosed && (this.#flags & flag.endStream) !== 0)
      this.#receiver.requestWhole(stream, null)
  }

  /** Takes the length of the padding, where so many bytes of the frame are here behind it. */
  #padded(length: number, here: number): boolean {
    this.#padding = length
    const rest = this.#left + here - length
    if (rest < 0) return this.#receiver.fail('protocol', errorCode.protocol, 'more padding than DATA')
    if (rest === 0 && (this.#flags & flag.endStream) === 0 && !this.#receiver.spendControl()) return false
    if (this.#stream !== null) this.giveBack(this.#stream, length + 1)
    return true
  }

  #body(stream: Stream<Owner>, bytes: Buffer, at: number, end: number): void {
    const length = end - at
    if (stream.bodyLeft !== -1 && (stream.bodyLeft -= length) < 0)
      return void this.#receiver.streamError(stream, errorCode.protocol)
    if (!stream.isBodyWanted) return stream.hold(bytes, at, end)
    this.giveBack(stream, length)
    this.#receiver.received(stream, at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end))
  }

  /** Lets a client send as many bytes more of a body. */
  giveBack(stream: Stream<Owner>, length: number): void {
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
