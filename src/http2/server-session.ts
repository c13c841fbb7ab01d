// The server's side of a connection of HTTP/2 (RFC 9113): what each frame does to it and its streams, and what it may cost. Its memory is bounded: for each stream,
// a window of 64 KiB of body that nobody has asked for and what was written of the response when it was told to wait; and once, a header block, some 64 KiB
// of output beside heads, and 4 KiB for each table of the compression.

import { Budgets } from './budget.ts'
import { ClosedStreams, type StreamEnd } from './closed-streams.ts'
import { type FrameTaker, FrameReader, frameLimit, uint31 } from './frame-reader.ts'
import { FrameWriter } from './frame-writer.ts'
import { type ErrorCode, errorCode, flag, frameType, setting } from './frames.ts'
import { HeaderBlock } from './header-block.ts'
import { type FieldSink, HpackDecoder } from './hpack/decoder.ts'
import { Inflow } from './inflow.ts'
import { Outflow } from './outflow.ts'
import { firstWindow, largestWindow, PeerSettings } from './peer-settings.ts'
import { RequestFields } from './request-fields.ts'
import { ResponsePace } from './response-pace.ts'
import type { ReadState, SessionFault, SessionUser } from './session-user.ts'
import { Stream } from './stream.ts'
import { nobody, TrailerFields } from './trailer-fields.ts'
import { TurnWork, workOfRequest, workOfTurn } from './turn-work.ts'

/** What every client begins with (RFC 9113 section 3.4). */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

/** The share of a reset that a response is good for, and the frames that carry nothing which a request is good for, or a frame of data. */
const resetsPerResponse = 0.25
const controlFramesPerFrame = 4
/** Frames of one header block. */
const mostBlockFrames = 64
/** Bytes by which a header list may be too large and still be refused as a request: beyond, its block repeats long fields of the table, to cost more than it has sent. */
const mostExcess = 512 * 1024
/** Ms that a client may take to acknowledge our settings. */
const settingsTimeout = 30_000
/** Ms between the two steps of a shutdown, so that what is on its way arrives before the second. */
const shutdownPause = 1_000
/** Ms in which a client may send the rest of a body whose response it has, since some take a reset for a failure even then (RFC 9113 section 8.1). */
const linger = 2_000
/** Bytes of output at which no more is read until it was taken. */
const mostOutput = 256 * 1024

interface SessionSettings {
  /** Streams that a client may have open. */
  readonly maxConcurrentStreams: number
}

export class ServerSession<Owner> implements FrameTaker {
  readonly #user: SessionUser<Owner>
  readonly #mostStreams: number
  readonly #reader = new FrameReader(this)
  readonly #writer = new FrameWriter()
  readonly #inflow: Inflow<Owner>
  readonly #outflow: Outflow<Owner>
  readonly #decoder = new HpackDecoder()
  readonly #fields = new RequestFields()
  readonly #streams = new Map<number, Stream<Owner>>()
  readonly #closed = new ClosedStreams()
  /** What the client may still make it do for nothing. */
  readonly budgets: Budgets
  /** Received and not read. */
  #pending: Buffer | null = null
  #prefaceAt = 0
  #now: number
  readonly #work: TurnWork
  #isReading = false
  #isOver = false
  #hasSettings = false
  /** When our settings must be acknowledged, and a header block or the beginning be complete. */
  #settingsDeadline: number
  #headDeadline: number
  #highest = 0
  #requestCount = 0
  #pausingCount = 0
  #held = 0
  /** Streams above it are refused, in a shutdown. */
  #lastStream = largestWindow
  #shutdownAt = Number.POSITIVE_INFINITY
  #isLeaving = false
  readonly #peer = new PeerSettings(1)
  readonly #pace: ResponsePace
  /** Whether the user was told that there is output. */
  #isAnnounced = false

  // The frame that is being read.
  #type = 0
  #flags = 0
  #id = 0
  /** The header block that is being read. */
  readonly #block = new HeaderBlock()

  /** Begins at monotonic ms `now`, with the budgets that earlier connections of the client have left, where it has met their end, and the work that sessions share. */
  constructor(
    user: SessionUser<Owner>,
    settings: SessionSettings,
    now: number,
    budgets: Budgets = new Budgets(now),
    work: TurnWork = new TurnWork(),
  ) {
    this.#user = user
    this.#mostStreams = settings.maxConcurrentStreams
    this.#now = now
    this.#pace = new ResponsePace(now)
    this.#settingsDeadline = now + settingsTimeout
    this.#headDeadline = now + user.headTimeout
    this.budgets = budgets
    this.#work = work
    this.#inflow = new Inflow(this.#writer, this)
    this.#outflow = new Outflow(this.#writer, this)
    this.#writer.settings([
      [setting.maxConcurrentStreams, this.#mostStreams],
      [setting.maxHeaderListSize, user.limits.headerSection],
      [setting.enableConnectProtocol, 1],
      [setting.noRfc7540Priorities, 1],
    ])
    this.#inflow.open()
  }

  /** Streams that are open. */
  get streamCount(): number {
    return this.#streams.size
  }

  /** Streams whose responses have not begun, or wait for the client to take them; those that pause in between are left out once a second. */
  get waitingCount(): number {
    return Math.max(0, this.#streams.size - this.#pausingCount)
  }

  /** Streams whose responses wait for the client to take them. */
  get stalledCount(): number {
    return this.#outflow.stalledCount
  }

  /** Bytes of responses that wait for the client to take them, as of the last sweep. */
  get held(): number {
    return this.#held
  }

  /** Requests that have begun so far. */
  get requestCount(): number {
    return this.#requestCount
  }

  /** Whether there is output to take. */
  get hasOutput(): boolean {
    return this.#writer.length > 0 || this.#outflow.canSend
  }

  /** Whether it is over, or is ending and has no stream left, so that the connection can be closed behind the last output. */
  get isDone(): boolean {
    const isLeaving = this.#isLeaving || this.#lastStream !== largestWindow
    return this.#isOver || (isLeaving && this.#streams.size === 0)
  }

  // ── what comes in ──

  /** Takes received bytes, at monotonic ms `now`. Where it is not done with them, the socket is to be paused, and `readOn` to be called in time, until it is done. */
  read(bytes: Buffer, now: number): ReadState {
    this.keep(bytes)
    return this.#readNow(now)
  }

  /** Takes received bytes that are to be read in another turn. */
  keep(bytes: Buffer): void {
    this.#pending = this.#pending === null ? bytes : Buffer.concat([this.#pending, bytes])
  }

  /** Goes on in another turn, with so much work. */
  readOn(now: number, work = workOfTurn): ReadState {
    this.#work.left = work
    return this.#readNow(now)
  }

  #readNow(now: number): ReadState {
    if (this.#isReading) return 'done'
    this.#isReading = true
    this.#now = now
    const state = this.#readSome()
    this.#isReading = false
    this.#announce()
    return state
  }

  #readSome(): ReadState {
    const bytes = this.#pending
    if (bytes === null) return 'done'
    let at = this.#readPreface(bytes, 0)
    while (at < bytes.length && !this.#isOver) {
      if (this.#work.left <= 0 || this.#writer.length > mostOutput) {
        this.#pending = at === 0 ? bytes : bytes.subarray(at)
        return this.#work.left <= 0 ? 'more' : 'full'
      }
      this.#work.left--
      at = this.#reader.next(bytes, at)
    }
    this.#pending = null
    return 'done'
  }

  #readPreface(bytes: Buffer, at: number): number {
    for (; this.#prefaceAt < preface.length && at < bytes.length; at++)
      if (bytes[at] !== preface[this.#prefaceAt++]) {
        this.fail('protocol', errorCode.protocol, 'no preface')
        break
      }
    return at
  }

  frameBegun(type: number, flags: number, id: number, length: number): boolean {
    this.#type = type
    this.#flags = flags
    this.#id = id
    if (length > frameLimit)
      return this.fail('protocol', errorCode.frameSize, 'a frame of more than 16,384 bytes')
    if (this.#block.stream !== 0 && (type !== frameType.continuation || id !== this.#block.stream))
      return this.fail('protocol', errorCode.protocol, 'a frame in the middle of a header block')
    if (!this.#hasSettings && (type !== frameType.settings || (flags & flag.ack) !== 0))
      return this.fail('protocol', errorCode.protocol, 'no SETTINGS first')
    return type === frameType.data ? this.#dataBegun(id, flags, length) : true
  }

  frame(bytes: Buffer, at: number, end: number): void {
    switch (this.#type) {
      case frameType.headers:
        return this.#headers(bytes, at, end)
      case frameType.continuation:
        return this.#continuation(bytes, at, end)
      case frameType.settings:
        return this.#settings(bytes, at, end)
      case frameType.windowUpdate:
        return this.#windowUpdate(bytes, at, end)
      case frameType.rstStream:
        return this.#rstStream(end - at)
      case frameType.ping:
        return this.#ping(bytes, at, end)
      case frameType.goAway:
        return this.#goAway(end - at)
      case frameType.priority:
        return this.#priority(end - at)
      case frameType.pushPromise:
        return void this.fail('protocol', errorCode.protocol, 'PUSH_PROMISE of a client')
      default:
        // Of an extension that nobody has agreed on (RFC 9113 section 4.1).
        this.spendControl()
    }
  }

  // ── DATA ──

  #dataBegun(id: number, flags: number, length: number): boolean {
    if (id === 0) return this.fail('protocol', errorCode.protocol, 'DATA on stream 0')
    const stream = this.#streams.get(id)
    if (!this.#inflow.begin(stream ?? null, flags, length)) return false
    return stream !== undefined || this.#dataOfClosed(id)
  }

  #dataOfClosed(id: number): boolean {
    if (id > this.#highest || id % 2 === 0)
      return this.fail('protocol', errorCode.protocol, 'DATA on an idle stream')
    if (this.#closed.endOf(id) !== 'ended') return true
    return this.fail('protocol', errorCode.streamClosed, 'DATA on a closed stream')
  }

  dataPart(bytes: Buffer, at: number, end: number, isLast: boolean): void {
    this.#inflow.part(bytes, at, end, isLast)
  }

  received(stream: Stream<Owner>, bytes: Buffer): void {
    this.#user.body(stream, bytes)
  }

  lingered(stream: Stream<Owner>): void {
    this.#drop(stream, 'ended')
  }

  requestWhole(stream: Stream<Owner>, trailers: readonly string[] | null): void {
    if (stream.bodyLeft > 0) return void this.streamError(stream, errorCode.protocol)
    stream.isRequestWhole = true
    stream.requestTrailers = trailers
    if (stream.isBodyWanted) this.#endBody(stream)
  }

  #endBody(stream: Stream<Owner>): void {
    stream.isBodyOver = true
    this.#user.bodyEnd(stream, stream.requestTrailers)
  }

  // ── HEADERS ──

  #headers(bytes: Buffer, at: number, end: number): void {
    if (this.#id === 0) return void this.fail('protocol', errorCode.protocol, 'HEADERS on stream 0')
    const flags = this.#flags
    const extra = ((flags & flag.padded) === 0 ? 0 : 1) + ((flags & flag.priority) === 0 ? 0 : 5)
    if (end - at < extra) return void this.fail('protocol', errorCode.frameSize, 'HEADERS too short')
    const padding = (flags & flag.padded) === 0 ? 0 : bytes[at]!
    if (padding > end - at - extra)
      return void this.fail('protocol', errorCode.protocol, 'more padding than HEADERS')
    if ((flags & flag.endHeaders) !== 0)
      return this.#headersWhole(this.#id, flags, bytes, at + extra, end - padding)
    this.#block.begin(this.#id, flags)
    this.#headDeadline = this.#now + this.#user.headTimeout
    this.#addToBlock(bytes, at + extra, end - padding)
  }

  #continuation(bytes: Buffer, at: number, end: number): void {
    const { stream, flags } = this.#block
    if (stream === 0) return void this.fail('protocol', errorCode.protocol, 'CONTINUATION of nothing')
    if (!this.#addToBlock(bytes, at, end) || (this.#flags & flag.endHeaders) === 0) return
    const block = this.#block.take()
    this.#headDeadline = Number.POSITIVE_INFINITY
    this.#headersWhole(stream, flags, block, 0, block.length)
  }

  #addToBlock(bytes: Buffer, at: number, end: number): boolean {
    const limits = { bytes: this.#user.limits.headerSection, frames: mostBlockFrames }
    if (this.#block.add(bytes, at, end, limits) === null) return true
    return this.fail('header_block', errorCode.enhanceYourCalm, 'a header block that is too large')
  }

  #headersWhole(id: number, flags: number, bytes: Buffer, at: number, end: number): void {
    const isLast = (flags & flag.endStream) !== 0
    const stream = this.#streams.get(id)
    if (stream !== undefined) return this.#trailers(stream, isLast, bytes, at, end)
    if (id % 2 === 0) return void this.fail('protocol', errorCode.protocol, 'a stream with an even number')
    if (id <= this.#highest) return this.#headersOfClosed(id, bytes, at, end)
    this.#highest = id
    this.#work.left -= workOfRequest
    const { limits } = this.#user
    this.#fields.begin(limits)
    const size = this.#decode(bytes, at, end, this.#fields)
    if (size !== -1) this.#begin(id, isLast, size)
  }

  /** Decodes a block into a sink; returns the size of its list, -1 where the connection has failed. */
  #decode(bytes: Buffer, at: number, end: number, sink: FieldSink): number {
    const { headerSection } = this.#user.limits
    const bearable = headerSection + mostExcess
    const size = this.#decoder.decode(bytes, at, end, headerSection, sink, bearable)
    if (size === -1) this.fail('protocol', errorCode.compression, 'a header block that is none')
    if (size <= bearable) return size
    this.fail('header_block', errorCode.enhanceYourCalm, 'a header block that unpacks to too much')
    return -1
  }

  #begin(id: number, isWhole: boolean, size: number): void {
    if (id > this.#lastStream || this.#streams.size >= this.#mostStreams) return this.#refuse(id)
    const fields = this.#fields
    fields.settle(size, this.#user.limits)
    const { head, fault } = fields
    const stream = new Stream<Owner>(id, isWhole, firstWindow, this.#peer.initialWindow)
    this.#streams.set(id, stream)
    if (fields.isMalformed || (isWhole && head.contentLength > 0 && fault === null))
      return void this.streamError(stream, errorCode.protocol, false)
    stream.isTunnel = fields.isTunnel
    stream.hasKey = fields.hasKey
    // What comes through a tunnel has an end to hand over even where nothing else comes.
    if (stream.isTunnel) stream.isBodyOver = false
    stream.bodyLeft = isWhole ? -1 : head.contentLength
    this.#requestCount++
    this.budgets.controlFrames.earn(controlFramesPerFrame)
    this.#user.begin(stream, head, fault)
  }

  #refuse(id: number): void {
    this.#writer.rstStream(id, errorCode.refusedStream)
    this.#closed.add(id, 'reset_by_us')
    this.#spendReset()
  }

  #trailers(stream: Stream<Owner>, isLast: boolean, bytes: Buffer, at: number, end: number): void {
    const sink = new TrailerFields()
    const size = this.#decode(bytes, at, end, sink)
    if (size === -1) return
    if (stream.isRequestWhole) return void this.streamError(stream, errorCode.streamClosed)
    if (stream.lingersUntil > 0) return this.#drop(stream, 'ended')
    const isTooLarge = size > this.#user.limits.headerSection
    // Through a tunnel comes nothing but DATA (RFC 9113 section 8.5).
    if (sink.isMalformed || isTooLarge || !isLast || stream.isTunnel)
      return void this.streamError(stream, errorCode.protocol)
    this.requestWhole(stream, sink.fields)
  }

  #headersOfClosed(id: number, bytes: Buffer, at: number, end: number): void {
    const how = this.#closed.endOf(id)
    if (how === null) return void this.fail('protocol', errorCode.protocol, 'a stream with a lower number')
    if (how !== 'reset_by_us')
      return void this.fail('protocol', errorCode.streamClosed, 'HEADERS on a closed stream')
    if (this.#decode(bytes, at, end, nobody) !== -1) this.spendControl()
  }

  // ── other frames ──

  #settings(bytes: Buffer, at: number, end: number): void {
    if (this.#id !== 0) return void this.fail('protocol', errorCode.protocol, 'SETTINGS on a stream')
    const isAck = (this.#flags & flag.ack) !== 0
    if ((end - at) % 6 !== 0 || (isAck && at !== end))
      return void this.fail('protocol', errorCode.frameSize, 'SETTINGS of a wrong size')
    if (!this.#hasSettings) this.#headDeadline = Number.POSITIVE_INFINITY
    this.#hasSettings = true
    if (!this.spendControl()) return
    if (isAck) {
      this.#settingsDeadline = Number.POSITIVE_INFINITY
      return
    }
    const before = this.#peer.initialWindow
    const flaw = this.#peer.read(bytes, at, end)
    if (flaw === 'too_many')
      return void this.fail('control_frames', errorCode.enhanceYourCalm, 'too many settings in a frame')
    if (flaw === 'window')
      return void this.fail('protocol', errorCode.flowControl, 'SETTINGS_INITIAL_WINDOW_SIZE out of range')
    if (flaw === 'value') return void this.fail('protocol', errorCode.protocol, 'a setting out of range')
    if (this.#peer.limitsTable) this.#writer.encoder.limitTable()
    const change = this.#peer.initialWindow - before
    if (change === 0 || this.#resizeWindows(change)) this.#writer.settingsAck()
  }

  #resizeWindows(change: number): boolean {
    this.#work.left -= this.#streams.size >> 2
    for (const stream of this.#streams.values()) {
      stream.sendWindow += change
      if (stream.sendWindow > largestWindow)
        return this.fail('protocol', errorCode.flowControl, 'a window that is too wide')
      if (change > 0) this.#outflow.ready(stream)
    }
    return true
  }

  #windowUpdate(bytes: Buffer, at: number, end: number): void {
    if (end - at !== 4)
      return void this.fail('protocol', errorCode.frameSize, 'WINDOW_UPDATE of a wrong size')
    if (!this.spendControl()) return
    const increment = uint31(bytes, at)
    const id = this.#id
    if (id === 0) return this.#widen(increment)
    const stream = this.#streams.get(id)
    if (stream === undefined) return void this.#ofClosed('WINDOW_UPDATE')
    if (increment === 0) return void this.streamError(stream, errorCode.protocol)
    stream.sendWindow += increment
    if (stream.sendWindow > largestWindow) return void this.streamError(stream, errorCode.flowControl)
    this.#outflow.ready(stream)
  }

  #widen(increment: number): void {
    if (increment === 0) this.fail('protocol', errorCode.protocol, 'WINDOW_UPDATE by nothing')
    else if (!this.#outflow.widen(increment))
      this.fail('protocol', errorCode.flowControl, 'a window that is too wide')
  }

  #rstStream(length: number): void {
    if (length !== 4) return void this.fail('protocol', errorCode.frameSize, 'RST_STREAM of a wrong size')
    const stream = this.#streams.get(this.#id)
    if (stream === undefined) return void (this.#ofClosed('RST_STREAM') && this.spendControl())
    // It may have to close a connection to an origin.
    this.#work.left -= workOfRequest
    this.#drop(stream, 'reset')
    if (stream.lingersUntil > 0) return void this.spendControl()
    this.#user.aborted(stream, 'client_reset')
    this.#spendReset()
  }

  #ping(bytes: Buffer, at: number, end: number): void {
    if (this.#id !== 0) return void this.fail('protocol', errorCode.protocol, 'PING on a stream')
    if (end - at !== 8) return void this.fail('protocol', errorCode.frameSize, 'PING of a wrong size')
    if (this.spendControl() && (this.#flags & flag.ack) === 0) this.#writer.pingAck(bytes, at)
  }

  #goAway(length: number): void {
    if (this.#id !== 0) return void this.fail('protocol', errorCode.protocol, 'GOAWAY on a stream')
    if (length < 8) return void this.fail('protocol', errorCode.frameSize, 'GOAWAY of a wrong size')
    if (this.spendControl()) this.#isLeaving = true
  }

  /** Ignores priorities (RFC 9113 section 5.3.2), whose frame is looked at all the same. */
  #priority(length: number): void {
    if (this.#id === 0) return void this.fail('protocol', errorCode.protocol, 'PRIORITY on stream 0')
    if (!this.spendControl() || length === 5) return
    const stream = this.#streams.get(this.#id)
    if (stream !== undefined) this.streamError(stream, errorCode.frameSize)
    else this.fail('protocol', errorCode.frameSize, 'PRIORITY of a wrong size')
  }

  /** Takes a frame on a stream that is not open: behind its end it may have been on its way, before its beginning it is none. */
  #ofClosed(what: string): boolean {
    const isIdle = this.#id === 0 || this.#id > this.#highest || this.#id % 2 === 0
    return isIdle ? this.fail('protocol', errorCode.protocol, `${what} on an idle stream`) : true
  }

  // ── what goes out ──

  /** Returns what is to be written next, some 64 KiB beside heads; null for nothing at present. To be called again when that is written, whose memory is then used again. */
  takeOutput(): Buffer | null {
    this.#writer.reclaim()
    this.#outflow.fill()
    if (this.#writer.length > 0) return this.#writer.take()
    this.#isAnnounced = false
    return null
  }

  /** Asks for the body from now on, and hands over what has come. */
  readBody(stream: Stream<Owner>): void {
    if (stream.isClosed || stream.isBodyWanted || stream.isBodyOver) return
    stream.isBodyWanted = true
    const held = stream.takeHeld()
    if (held !== null) {
      this.#inflow.giveBack(stream, held.length)
      this.#user.body(stream, held)
    }
    if (stream.isRequestWhole && stream.isBodyWanted && !stream.isClosed) this.#endBody(stream)
    this.#announce()
  }

  /** Has the client wait with the body, of which it may send a window more. */
  pauseBody(stream: Stream<Owner>): void {
    stream.isBodyWanted = false
  }

  /**
   * Sends an interim response, of any 1xx but 101 (RFC 9113 section 8.1); the lines are latin1, `Name: value\r\n` each. It is left out where the client takes
   * nothing: unlike the one final response, an origin may send any number.
   */
  interim(stream: Stream<Owner>, status: number, lines: string): void {
    if (stream.isClosed || stream.hasResponded || this.#writer.length > mostOutput) return
    this.#writer.headers(stream.id, status, lines, false)
    this.#announce()
  }

  /** Sends the head of the response, likewise; `ended` where it has no body. Names may have any case, and fields that belong to a connection are left out. */
  respond(stream: Stream<Owner>, status: number, lines: string, ended: boolean): void {
    if (stream.isClosed) return
    stream.hasResponded = true
    this.#writer.headers(stream.id, status, lines, ended)
    if (ended) {
      stream.isResponseOver = true
      this.sent(stream)
    }
    this.#announce()
  }

  /** Sends bytes of the body, which must not change any more; false where the rest is not to come before `drained`. */
  write(stream: Stream<Owner>, bytes: Buffer): boolean {
    if (stream.isClosed || bytes.length === 0) return true
    const mayGoOn = this.#outflow.write(stream, bytes)
    if (mayGoOn) this.#announce()
    // That it waits is to be known, even where there is no output to take.
    else this.#user.outputReady()
    return mayGoOn
  }

  /** Ends the response behind what waits of it; `trailers` are flat, null for none. A request that is not whole may come to its end for two seconds, and is called off then. */
  end(stream: Stream<Owner>, trailers: readonly string[] | null): void {
    if (stream.isClosed || stream.isResponseOver) return
    stream.isResponseOver = true
    stream.responseTrailers = trailers === null ? null : linesOf(trailers)
    this.#outflow.end(stream)
    this.#announce()
  }

  /** Ends a stream at once; what waits is dropped. */
  reset(stream: Stream<Owner>, code: ErrorCode): void {
    if (stream.isClosed) return
    this.#writer.rstStream(stream.id, code)
    this.#drop(stream, 'reset_by_us')
    this.#announce()
  }

  drained(stream: Stream<Owner>): void {
    this.#user.drained(stream)
  }

  /** Ends a stream whose response is sent; part of sending, as `drained` and `sentFrame` are. */
  sent(stream: Stream<Owner>): void {
    this.budgets.resets.earn(resetsPerResponse)
    if (stream.isRequestWhole) return this.#drop(stream, 'ended')
    stream.close()
    stream.lingersUntil = this.#now + linger
    this.#inflow.giveBack(stream, firstWindow - stream.receiveWindow - stream.toGiveBack)
  }

  sentFrame(): void {
    this.budgets.controlFrames.earn(controlFramesPerFrame)
  }

  // ── endings ──

  /** Begins to end the connection (RFC 9113 section 6.8): for a second, requests that are on their way are taken; then only those that are open are served. */
  shutdown(now: number): void {
    if (this.#shutdownAt !== Number.POSITIVE_INFINITY || this.#isOver) return
    this.#writer.goAway(largestWindow, errorCode.none, '')
    this.#shutdownAt = now + shutdownPause
    this.#announce()
  }

  /**
   * Acts on deadlines that have passed, about once a second; `responseRate` is how many bytes a second a client must allow of what waits for it, 0 for any. Where it is
   * overdrawn, it must have allowed some since the last time.
   */
  sweep(now: number, responseRate: number, isOverdrawn = false): void {
    if (this.#isOver) return
    this.#now = now
    if (now >= this.#settingsDeadline)
      this.fail('settings_timeout', errorCode.settingsTimeout, 'SETTINGS were not acknowledged')
    else if (now >= this.#headDeadline)
      this.fail('slow_head', errorCode.enhanceYourCalm, 'a header block took too long')
    else this.#sweepStreams(now, responseRate, isOverdrawn)
    if (now >= this.#shutdownAt && this.#lastStream === largestWindow) {
      this.#lastStream = this.#highest
      this.#writer.goAway(this.#lastStream, errorCode.none, '')
    }
    this.#announce()
  }

  /** Has a client that leaves at monotonic ms `now` pay for the requests whose responses it does not await, as if it had reset them. */
  leave(now: number): void {
    this.#now = now
    for (const { lingersUntil } of this.#streams.values())
      if (lingersUntil === 0 && !this.#spendReset()) return
  }

  /** Ends the session of a client that has met a limit over several connections. */
  exhaust(fault: SessionFault): void {
    this.fail(fault, errorCode.enhanceYourCalm, 'too much over several connections')
  }

  /** Ends the session where the connection is gone: all streams are aborted. */
  close(): void {
    if (!this.#isOver) this.#end()
  }

  #sweepStreams(now: number, rate: number, isOverdrawn: boolean): void {
    this.#pace.look(now, this.#outflow.takeSent(), isOverdrawn)
    this.#pausingCount = this.#held = 0
    for (const stream of this.#streams.values()) {
      if (stream.lingersUntil > 0) {
        this.#endLingering(stream, now)
        continue
      }
      const fault = this.#pace.faultOf(stream, rate)
      if (fault !== null) {
        this.reset(stream, fault === 'slow' ? errorCode.cancel : errorCode.enhanceYourCalm)
        this.#user.aborted(stream, 'slow_reader')
      } else if (stream.waiting > 0) this.#held += stream.waiting
      else if (stream.hasResponded) this.#pausingCount++
    }
  }

  #endLingering(stream: Stream<Owner>, now: number): void {
    if (now < stream.lingersUntil) return
    this.#writer.rstStream(stream.id, errorCode.none)
    this.#drop(stream, 'reset_by_us')
  }

  /** Resets a stream whose client has broken the rules for it. */
  streamError(stream: Stream<Owner>, code: ErrorCode, hasBegun = true): boolean {
    this.#writer.rstStream(stream.id, code)
    this.#drop(stream, 'reset_by_us')
    if (hasBegun && stream.lingersUntil === 0) this.#user.aborted(stream, 'malformed')
    this.#spendReset()
    return !this.#isOver
  }

  #drop(stream: Stream<Owner>, end: StreamEnd): void {
    this.#outflow.close(stream)
    this.#streams.delete(stream.id)
    this.#closed.add(stream.id, end)
  }

  #spendReset(): boolean {
    if (this.budgets.resets.spend(this.#now)) return true
    return this.fail('resets', errorCode.enhanceYourCalm, 'too many requests were reset')
  }

  spendControl(): boolean {
    if (this.budgets.controlFrames.spend(this.#now)) return true
    return this.fail('control_frames', errorCode.enhanceYourCalm, 'too many frames that carry nothing')
  }

  /** Ends the session for a fault of the client; always false. */
  fail(fault: SessionFault, code: ErrorCode, detail: string): false {
    if (this.#isOver) return false
    this.#writer.goAway(this.#highest, code, detail)
    this.#end()
    this.#announce()
    this.#user.failed(fault, detail)
    return false
  }

  #end(): void {
    this.#isOver = true
    this.#held = 0
    this.#pending = null
    this.#block.drop()
    const streams = [...this.#streams.values()]
    this.#streams.clear()
    for (const stream of streams) this.#outflow.close(stream)
    for (const stream of streams) if (stream.lingersUntil === 0) this.#user.aborted(stream, 'session')
  }

  /** Has the user take what was written, once. */
  #announce(): void {
    if (this.#isAnnounced || this.#isReading || !this.hasOutput) return
    this.#isAnnounced = true
    this.#user.outputReady()
  }
}

function linesOf(fields: readonly string[]): string {
  let lines = ''
  for (let i = 0; i < fields.length; i += 2) lines += `${fields[i]}: ${fields[i + 1]}\r\n`
  return lines
}
