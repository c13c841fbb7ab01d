// Takes the frames of a connection that carry nothing of a request (RFC 9113 section 6): what the client sets, allows, resets, asks and announces.

import type { Allowance } from './allowance.ts'
import { uint31 } from '../frames/frame-reader.ts'
import type { FrameWriter } from '../frames/frame-writer.ts'
import { type ErrorCode, errorCode, flag, frameType } from '../frames/frames.ts'
import type { Outflow } from '../session/outflow.ts'
import { largestWindow, type PeerSettings } from '../frames/peer-settings.ts'
import type { FaultTaker, SessionParts } from './session-parts.ts'
import type { SessionUser } from './session-user.ts'
import type { Stream } from './stream.ts'
import type { Streams } from './streams.ts'
import { type TurnWork, workOfRequest } from '../frames/turn-work.ts'

export class ControlFrames<Owner> {
  /** Whether the client has sent its settings, with which it begins. */
  hasSettings = false
  /** Whether it has announced that it ends the connection. */
  isLeaving = false
  readonly #session: FaultTaker<Owner>
  readonly #user: SessionUser<Owner>
  readonly #writer: FrameWriter
  readonly #outflow: Outflow<Stream<Owner>>
  readonly #streams: Streams<Owner>
  readonly #allowance: Allowance
  readonly #peer: PeerSettings
  readonly #work: TurnWork

  constructor(
    session: FaultTaker<Owner>,
    { user, writer, outflow, streams, allowance, peer, work }: SessionParts<Owner>,
  ) {
    this.#session = session
    this.#user = user
    this.#writer = writer
    this.#outflow = outflow
    this.#streams = streams
    this.#allowance = allowance
    this.#peer = peer
    this.#work = work
  }

  /** Takes a frame of any type but DATA, HEADERS and CONTINUATION. */
  frame(type: number, flags: number, id: number, bytes: Buffer, at: number, end: number): void {
    switch (type) {
      case frameType.settings:
        return this.#settings(id, flags, bytes, at, end)
      case frameType.windowUpdate:
        return this.#windowUpdate(id, bytes, at, end)
      case frameType.rstStream:
        return this.#rstStream(id, end - at)
      case frameType.ping:
        return this.#ping(id, flags, bytes, at, end)
      case frameType.goAway:
        return this.#goAway(id, end - at)
      case frameType.priority:
        return this.#priority(id, end - at)
      case frameType.pushPromise:
        return void this.#fail(errorCode.protocol, 'PUSH_PROMISE of a client')
      default:
        // Of an extension that nobody has agreed on (RFC 9113 section 4.1).
        this.#allowance.spendControl()
    }
  }

  #settings(id: number, flags: number, bytes: Buffer, at: number, end: number): void {
    if (id !== 0) return void this.#fail(errorCode.protocol, 'SETTINGS on a stream')
    const isAck = (flags & flag.ack) !== 0
    if ((end - at) % 6 !== 0 || (isAck && at !== end))
      return void this.#fail(errorCode.frameSize, 'SETTINGS of a wrong size')
    if (!this.hasSettings) this.#allowance.headWhole()
    this.hasSettings = true
    if (!this.#allowance.spendControl()) return
    if (isAck) this.#allowance.settingsAcknowledged()
    else this.#set(bytes, at, end)
  }

  #set(bytes: Buffer, at: number, end: number): void {
    const peer = this.#peer
    const before = peer.initialWindow
    const flaw = peer.read(bytes, at, end)
    if (flaw === 'too_many') {
      const detail = 'too many settings in a frame'
      return void this.#session.fail('control_frames', errorCode.enhanceYourCalm, detail)
    }
    if (flaw === 'window')
      return void this.#fail(errorCode.flowControl, 'SETTINGS_INITIAL_WINDOW_SIZE out of range')
    if (flaw === 'value') return void this.#fail(errorCode.protocol, 'a setting out of range')
    if (peer.limitsTable) this.#writer.encoder.limitTable()
    const change = peer.initialWindow - before
    if (change === 0 || this.#resizeWindows(change)) this.#writer.settingsAck()
  }

  #resizeWindows(change: number): boolean {
    this.#work.left -= this.#streams.size >> 2
    for (const stream of this.#streams.all()) {
      stream.sendWindow += change
      if (stream.sendWindow > largestWindow)
        return this.#fail(errorCode.flowControl, 'a window that is too wide')
      if (change > 0) this.#outflow.ready(stream)
    }
    return true
  }

  #windowUpdate(id: number, bytes: Buffer, at: number, end: number): void {
    if (end - at !== 4) return void this.#fail(errorCode.frameSize, 'WINDOW_UPDATE of a wrong size')
    if (!this.#allowance.spendControl()) return
    const increment = uint31(bytes, at)
    if (id === 0) return this.#widen(increment)
    const stream = this.#streams.get(id)
    if (stream === undefined) return void this.#ofClosed(id, 'WINDOW_UPDATE')
    if (increment === 0) return void this.#session.streamError(stream, errorCode.protocol)
    stream.sendWindow += increment
    if (stream.sendWindow > largestWindow)
      return void this.#session.streamError(stream, errorCode.flowControl)
    this.#outflow.ready(stream)
  }

  #widen(increment: number): void {
    if (increment === 0) this.#fail(errorCode.protocol, 'WINDOW_UPDATE by nothing')
    else if (!this.#outflow.widen(increment)) this.#fail(errorCode.flowControl, 'a window that is too wide')
  }

  #rstStream(id: number, length: number): void {
    if (length !== 4) return void this.#fail(errorCode.frameSize, 'RST_STREAM of a wrong size')
    const stream = this.#streams.get(id)
    if (stream === undefined) return void (this.#ofClosed(id, 'RST_STREAM') && this.#allowance.spendControl())
    // It may have to close a connection to an origin.
    this.#work.left -= workOfRequest
    this.#streams.drop(stream, 'reset')
    if (stream.lingersUntil > 0) return void this.#allowance.spendControl()
    this.#user.aborted(stream, 'client_reset')
    this.#allowance.spendReset()
  }

  #ping(id: number, flags: number, bytes: Buffer, at: number, end: number): void {
    if (id !== 0) return void this.#fail(errorCode.protocol, 'PING on a stream')
    if (end - at !== 8) return void this.#fail(errorCode.frameSize, 'PING of a wrong size')
    if (this.#allowance.spendControl() && (flags & flag.ack) === 0) this.#writer.pingAck(bytes, at)
  }

  #goAway(id: number, length: number): void {
    if (id !== 0) return void this.#fail(errorCode.protocol, 'GOAWAY on a stream')
    if (length < 8) return void this.#fail(errorCode.frameSize, 'GOAWAY of a wrong size')
    if (this.#allowance.spendControl()) this.isLeaving = true
  }

  /** Ignores priorities (RFC 9113 section 5.3.2), whose frame is looked at all the same. */
  #priority(id: number, length: number): void {
    if (id === 0) return void this.#fail(errorCode.protocol, 'PRIORITY on stream 0')
    if (!this.#allowance.spendControl() || length === 5) return
    const stream = this.#streams.get(id)
    if (stream !== undefined) this.#session.streamError(stream, errorCode.frameSize)
    else this.#fail(errorCode.frameSize, 'PRIORITY of a wrong size')
  }

  /** Takes a frame on a stream that is not open: behind its end it may have been on its way, before its beginning it is none. */
  #ofClosed(id: number, what: string): boolean {
    return !this.#streams.isIdle(id) || this.#fail(errorCode.protocol, `${what} on an idle stream`)
  }

  #fail(code: ErrorCode, detail: string): false {
    return this.#session.fail('protocol', code, detail)
  }
}
