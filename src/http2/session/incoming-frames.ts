// Reads frames: checks the rules of both roles (RFC 9113 section 6), and acts on settings, windows and pings.

import { type FrameTaker, frameLimit, uint31 } from '../frames/frame-reader.ts'
import type { FrameWriter } from '../frames/frame-writer.ts'
import { type ErrorCode, errorCode, flag, frameType } from '../frames/frames.ts'
import { type BlockLimits, HeaderBlock } from '../frames/header-block.ts'
import { maxWindow, type PeerSettings } from '../frames/peer-settings.ts'
import type { TurnWork } from '../frames/turn-work.ts'
import type { Outflow } from './outflow.ts'
import type { SendingStream } from './sending-stream.ts'

export interface FrameRole<Stream> {
  /** Always false. */
  violated(code: ErrorCode, detail: string): false
  streamError(stream: Stream, code: ErrorCode): void
  /** False if the session failed for the frame. */
  spendControl(): boolean
  /** Null for the connection, undefined for a closed stream; likewise. */
  spendWindowUpdate(stream: Stream | null | undefined): boolean
  settingsApplied(): void
  settingsAcknowledged(): void
  pingAcknowledged(): void
  rstStream(stream: Stream, code: ErrorCode): void
  goAway(lastStream: number, code: ErrorCode): void
}

export interface BlockTaker {
  readonly blockLimits: BlockLimits
  begun(): void
  /** With the flags of its first frame. */
  block(id: number, flags: number, bytes: Buffer, at: number, end: number): void
  /** Always false. */
  tooLarge(limit: keyof BlockLimits): false
}

interface DataTaker {
  /** False if the session failed for it. */
  begin(id: number, flags: number, length: number): boolean
  part(bytes: Buffer, at: number, end: number, isLast: boolean): void
}

interface Parts<Stream extends SendingStream> {
  readonly writer: FrameWriter
  readonly outflow: Outflow<Stream>
  readonly streams: {
    readonly size: number
    get(id: number): Stream | undefined
    all(): Iterable<Stream>
    isIdle(id: number): boolean
  }
  readonly peer: PeerSettings
  readonly work: TurnWork
}

export class IncomingFrames<Stream extends SendingStream> implements FrameTaker {
  /** They must come first. */
  hasSettings = false
  readonly #role: FrameRole<Stream>
  readonly #blocks: BlockTaker
  readonly #data: DataTaker
  readonly #parts: Parts<Stream>
  readonly #block = new HeaderBlock()

  #type = 0
  #flags = 0
  #id = 0

  constructor(role: FrameRole<Stream>, blocks: BlockTaker, data: DataTaker, parts: Parts<Stream>) {
    this.#role = role
    this.#blocks = blocks
    this.#data = data
    this.#parts = parts
  }

  drop(): void {
    this.#block.drop()
  }

  frameBegun(type: number, flags: number, id: number, length: number): boolean {
    if (length > frameLimit) return this.#wrongSize('a frame of more than 16,384 bytes')
    const { stream } = this.#block
    if (stream !== 0 && (type !== frameType.continuation || id !== stream))
      return this.#violated('a frame in the middle of a header block')
    if (!this.hasSettings && (type !== frameType.settings || (flags & flag.ack) !== 0))
      return this.#violated('no SETTINGS first')
    this.#type = type
    this.#flags = flags
    this.#id = id
    return type !== frameType.data || this.#data.begin(id, flags, length)
  }

  dataPart(bytes: Buffer, at: number, end: number, isLast: boolean): void {
    this.#data.part(bytes, at, end, isLast)
  }

  frame(bytes: Buffer, at: number, end: number): void {
    const id = this.#id
    switch (this.#type) {
      case frameType.headers:
        return this.#headers(id, bytes, at, end)
      case frameType.continuation:
        return this.#continuation(bytes, at, end)
      case frameType.windowUpdate:
        return this.#windowUpdate(id, bytes, at, end)
      case frameType.rstStream:
        return this.#rstStream(id, bytes, at, end)
      case frameType.settings:
        return this.#settings(id, bytes, at, end)
      case frameType.ping:
        return this.#ping(id, bytes, at, end)
      case frameType.goAway:
        return this.#goAway(id, bytes, at, end)
      case frameType.priority:
        return this.#priority(id, end - at)
      case frameType.pushPromise:
        // A client must not send it, and a server must not since we disabled it.
        return void this.#violated('PUSH_PROMISE')
      default:
        // Unknown types are ignored (RFC 9113 section 4.1).
        this.#role.spendControl()
    }
  }

  #headers(id: number, bytes: Buffer, at: number, end: number): void {
    const flags = this.#flags
    const isPadded = (flags & flag.padded) !== 0
    if (id === 0) return void this.#violated('HEADERS on stream 0')
    const extra = (isPadded ? 1 : 0) + ((flags & flag.priority) === 0 ? 0 : 5)
    if (end - at < extra) return void this.#wrongSize('HEADERS too short')
    const padding = isPadded ? bytes[at]! : 0
    if (padding > end - at - extra) return void this.#violated('more padding than HEADERS')
    if ((flags & flag.endHeaders) !== 0)
      return this.#blocks.block(id, flags, bytes, at + extra, end - padding)
    this.#block.begin(id, flags)
    this.#blocks.begun()
    this.#add(bytes, at + extra, end - padding)
  }

  #continuation(bytes: Buffer, at: number, end: number): void {
    const { stream, flags } = this.#block
    if (stream === 0) return void this.#violated('CONTINUATION of nothing')
    if (!this.#add(bytes, at, end) || (this.#flags & flag.endHeaders) === 0) return
    const block = this.#block.take()
    this.#blocks.block(stream, flags, block, 0, block.length)
  }

  #add(bytes: Buffer, at: number, end: number): boolean {
    const limit = this.#block.add(bytes, at, end, this.#blocks.blockLimits)
    return limit === null || this.#blocks.tooLarge(limit)
  }

  #settings(id: number, bytes: Buffer, at: number, end: number): void {
    if (id !== 0) return void this.#violated('SETTINGS on a stream')
    const isAck = (this.#flags & flag.ack) !== 0
    if ((end - at) % 6 !== 0 || (isAck && at !== end)) return void this.#wrongSize('SETTINGS of a wrong size')
    this.hasSettings = true
    if (!this.#role.spendControl()) return
    if (isAck) return this.#role.settingsAcknowledged()
    if (!this.#apply(bytes, at, end)) return
    this.#parts.writer.settingsAck()
    this.#role.settingsApplied()
  }

  #apply(bytes: Buffer, at: number, end: number): boolean {
    const { peer, writer } = this.#parts
    const before = peer.initialWindow
    const flaw = peer.read(bytes, at, end)
    if (flaw === 'too_many')
      return this.#role.violated(errorCode.enhanceYourCalm, 'too many settings in a frame')
    if (flaw === 'window')
      return this.#role.violated(errorCode.flowControl, 'SETTINGS_INITIAL_WINDOW_SIZE out of range')
    if (flaw === 'value') return this.#violated('a setting out of range')
    if (peer.limitsTable) writer.encoder.limitTable()
    const change = peer.initialWindow - before
    return change === 0 || this.#resizeWindows(change)
  }

  #resizeWindows(change: number): boolean {
    const { streams, outflow, work } = this.#parts
    work.left -= streams.size >> 2
    for (const stream of streams.all()) {
      stream.sendWindow += change
      if (stream.sendWindow > maxWindow) return this.#tooWide()
      outflow.ready(stream)
    }
    return true
  }

  #windowUpdate(id: number, bytes: Buffer, at: number, end: number): void {
    if (end - at !== 4) return void this.#wrongSize('WINDOW_UPDATE of a wrong size')
    const { streams, outflow } = this.#parts
    const role = this.#role
    const stream = id === 0 ? null : streams.get(id)
    if (!role.spendWindowUpdate(stream)) return
    const increment = uint31(bytes, at)
    if (stream === undefined) return void this.#isClosed(id, 'WINDOW_UPDATE')
    if (stream === null) {
      if (increment === 0) this.#violated('WINDOW_UPDATE by nothing')
      else if (!outflow.widen(increment)) this.#tooWide()
      return
    }
    if (increment === 0) return role.streamError(stream, errorCode.protocol)
    stream.sendWindow += increment
    if (stream.sendWindow > maxWindow) return role.streamError(stream, errorCode.flowControl)
    outflow.ready(stream)
  }

  #rstStream(id: number, bytes: Buffer, at: number, end: number): void {
    if (end - at !== 4) return void this.#wrongSize('RST_STREAM of a wrong size')
    const stream = this.#parts.streams.get(id)
    if (stream !== undefined) this.#role.rstStream(stream, bytes.readUInt32BE(at))
    else if (this.#isClosed(id, 'RST_STREAM')) this.#role.spendControl()
  }

  #ping(id: number, bytes: Buffer, at: number, end: number): void {
    if (id !== 0) return void this.#violated('PING on a stream')
    if (end - at !== 8) return void this.#wrongSize('PING of a wrong size')
    if (!this.#role.spendControl()) return
    if ((this.#flags & flag.ack) !== 0) this.#role.pingAcknowledged()
    else this.#parts.writer.pingAck(bytes, at)
  }

  #goAway(id: number, bytes: Buffer, at: number, end: number): void {
    if (id !== 0) return void this.#violated('GOAWAY on a stream')
    if (end - at < 8) return void this.#wrongSize('GOAWAY of a wrong size')
    if (this.#role.spendControl()) this.#role.goAway(uint31(bytes, at), bytes.readUInt32BE(at + 4))
  }

  /** Ignores priorities (RFC 9113 section 5.3.2), but not malformed frames. */
  #priority(id: number, length: number): void {
    if (id === 0) return void this.#violated('PRIORITY on stream 0')
    if (!this.#role.spendControl() || length === 5) return
    const stream = this.#parts.streams.get(id)
    if (stream !== undefined) this.#role.streamError(stream, errorCode.frameSize)
    else this.#wrongSize('PRIORITY of a wrong size')
  }

  /** Whether the frame may have been on its way before the stream was closed; else the session fails. */
  #isClosed(id: number, what: string): boolean {
    return !this.#parts.streams.isIdle(id) || this.#violated(`${what} on an idle stream`)
  }

  #violated(detail: string): false {
    return this.#role.violated(errorCode.protocol, detail)
  }

  #wrongSize(detail: string): false {
    return this.#role.violated(errorCode.frameSize, detail)
  }

  #tooWide(): false {
    return this.#role.violated(errorCode.flowControl, 'a window that is too wide')
  }
}
