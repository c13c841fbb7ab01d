// One connection of HTTP/2 in the role of the client (RFC 9113): requests become streams, and frames become responses. It has no socket and no clock: who keeps
// it brings bytes, takes bytes, and tells the time.

import { frameLimit, FrameReader, type FrameTaker, uint31 } from '../frame-reader.ts'
import { FrameWriter } from '../frame-writer.ts'
import { errorCode, flag, frameType, setting } from '../frames.ts'
import { HeaderBlock } from '../header-block.ts'
import { HpackDecoder } from '../hpack/decoder.ts'
import { largestWindow, PeerSettings } from '../peer-settings.ts'
import { nobody, TrailerFields } from '../trailer-fields.ts'
import { Inflow } from './inflow.ts'
import { Liveness } from './liveness.ts'
import { Outflow } from './outflow.ts'
import type { RequestFields } from './request-fields.ts'
import { ResponseFields } from './response-fields.ts'
import { codeOf, faultOfSettings, type SessionFault } from './session-fault.ts'
import { ClientStream, type StreamFault, type StreamUser } from './stream.ts'

/** Who keeps the session. */
interface SessionKeeper {
  /** There are bytes to `take`; comes once for all of them. */
  mayFlush(): void
  /** The origin broke the protocol; what is left to take is for the origin, and then the connection is to be closed. */
  broken(fault: SessionFault): void
  /** The number of streams that may be opened has changed, or one that was open is over. */
  changed(): void
}

/** Most bytes of a response's head, as those of HTTP/1.1; decoded, with 32 for each field. */
const largestHead = 64 * 1024
/** What bounds its block: up to there it is read for the compression's sake, and costs its stream alone. */
const blockLimits = { bytes: 4 * largestHead, frames: 32 }
/** Frames that say nothing of a response, as many as an origin may send at once, and in a second. */
const mostIdleFrames = 1_000
const idleFramesPerSecond = 100
/** What each request and each frame of its body may bring beside: windows, and what crosses its end. */
const idleFramesPerFrame = 4
/** What an interim response counts as. */
const idleFramesOfInterim = 10
/** Frames that are read in a turn, and as how many a header block counts. */
const workOfTurn = 1_024
const workOfBlock = 16
/** Bytes from which a frame for a stream that is over is not such a one: their number is bounded by its window. */
const leastStray = 256
/** Streams cancelled on one connection: servers take more for an attack (rapid reset), and end all of its streams for that. */
const mostCancelled = 100
/** What we assume until the origin says what it takes. */
const firstStreams = 1
const lastStream = 0x7fff_0000

export class ClientSession implements FrameTaker {
  readonly #keeper: SessionKeeper
  readonly #decoder = new HpackDecoder()
  readonly #reader = new FrameReader(this)
  readonly #output = new FrameWriter()
  readonly #streams = new Map<number, ClientStream>()
  readonly #outflow = new Outflow(this.#output, () => (this.#idleFrames += idleFramesPerFrame))
  readonly #inflow = new Inflow(this.#output, () => this.#wantFlush())
  readonly #liveness: Liveness
  /** Most streams that we want. */
  readonly #mostStreams: number
  readonly #peer = new PeerSettings(0)
  #nextId = 1
  #cancelled = 0
  #idleFrames = mostIdleFrames
  /** What this turn may still read, and what is left for the next one. */
  #work = workOfTurn
  #unread: Buffer | null = null
  /** Of the frame that is being read. */
  #type = 0
  #flags = 0
  #id = 0
  /** The stream of the DATA frame that is being read, null where nobody wants it, and what is left of its padding, -1 before its length is known. */
  #dataStream: ClientStream | null = null
  #padding = 0
  #dataLeft = 0
  /** The header block that is being read. */
  readonly #block = new HeaderBlock()
  #hasSettings = false
  #isLeaving = false
  #isClosed = false
  #isFlushing = false

  /** `now` is monotonic ms. */
  constructor(keeper: SessionKeeper, mostStreams: number, now: number) {
    this.#keeper = keeper
    this.#mostStreams = mostStreams
    this.#liveness = new Liveness(now)
    this.#output.preface()
    this.#output.settings([
      [setting.enablePush, 0],
      [setting.maxHeaderListSize, largestHead],
    ])
    this.#inflow.open()
  }

  /** Counts the streams that are open. */
  get size(): number {
    return this.#streams.size
  }

  /** How many streams may be opened now. */
  get room(): number {
    if (this.#isLeaving || this.#isClosed || this.#liveness.isAsked) return 0
    const granted = this.#hasSettings ? this.#peer.maxConcurrentStreams : firstStreams
    return Math.max(0, Math.min(this.#mostStreams, granted) - this.#streams.size)
  }

  /** Whether the origin has said how many streams it takes. */
  get isGreeted(): boolean {
    return this.#hasSettings
  }

  /** Whether the origin owes responses and has said nothing for so long that it may be gone. */
  get isSilent(): boolean {
    return this.#streams.size > 0 && this.#liveness.isSilent
  }

  /** Whether the origin was asked for a sign of life, and it is still early to expect none. */
  get isQuestioned(): boolean {
    return this.#liveness.isQuestioned
  }

  /** Whether that is so no longer. */
  get isGivenUp(): boolean {
    return this.#liveness.isAsked && !this.isQuestioned
  }

  /** Whether so many streams were cancelled that the origin may soon take them for an attack. */
  get isWorn(): boolean {
    return this.#cancelled >= mostCancelled
  }

  /** Whether no stream will be opened any more: the origin wants none, or the numbers are used up. */
  get isLeaving(): boolean {
    return this.#isLeaving || this.#isClosed
  }

  // ── requests ──

  /** Begins a request; there must be room. */
  open(user: StreamUser, fields: RequestFields, isWhole: boolean): ClientStream {
    const stream = new ClientStream(this.#nextId, user, this.#peer.initialWindow)
    this.#nextId += 2
    this.#idleFrames += idleFramesPerFrame
    if (this.#nextId > lastStream) this.#isLeaving = true
    if (this.#streams.size === 0) this.#liveness.owes()
    this.#streams.set(stream.id, stream)
    stream.hasSentAll = isWhole
    this.#output.request(stream.id, fields, isWhole)
    this.#wantFlush()
    return stream
  }

  /** Sends bytes of a request's body; false when the origin should be given time to read. */
  send(stream: ClientStream, bytes: Buffer): boolean {
    if (stream.isOver || bytes.length === 0) return true
    this.#wantFlush()
    return this.#outflow.send(stream, bytes)
  }

  /** Ends a request's body; the trailers are lines, null for none. */
  endRequest(stream: ClientStream, trailers: string | null): void {
    if (stream.isOver || stream.isEnding || stream.hasSentAll) return
    this.#outflow.end(stream, trailers)
    this.#wantFlush()
  }

  /** Reads no more of a response until `resume`. */
  pause(stream: ClientStream): void {
    stream.isPaused = true
  }

  resume(stream: ClientStream): void {
    if (!stream.isPaused) return
    stream.isPaused = false
    this.#inflow.release(stream)
    if (stream.heldEnd !== null && !stream.isPaused && !stream.isOver)
      this.#ended(stream, stream.heldEnd.trailers)
  }

  /** Cancels a stream; its user hears nothing more. Nothing to do for one that is over. */
  cancel(stream: ClientStream): void {
    if (stream.isOver) return
    stream.isOver = true
    this.#cancelled++
    this.#drop(stream, errorCode.cancel)
    this.#keeper.changed()
  }

  /** Asks the origin for a sign of life where nothing came since monotonic ms `since`, by default for as long as it may say nothing; until it comes, no stream is opened. */
  doubt(since?: number): void {
    if (this.#isClosed || !this.#liveness.doubt(since)) return
    this.#output.ping()
    this.#wantFlush()
    this.#keeper.changed()
  }

  // ── the connection ──

  /** Takes out what is to be written now. */
  take(): Buffer {
    this.#isFlushing = false
    this.#outflow.fill()
    return this.#output.take()
  }

  /** Takes note whether the connection takes more at once. */
  written(mayGoOn: boolean): void {
    this.#outflow.written(mayGoOn)
    if (mayGoOn && this.#outflow.isWaiting) this.#wantFlush()
  }

  /** Announces that no stream will follow. */
  leave(): void {
    if (this.#isClosed) return
    this.#isLeaving = true
    this.#output.goAway(0, errorCode.none, '')
    this.#wantFlush()
  }

  /** Ends the session; streams hear nothing of it. */
  close(): void {
    this.#isClosed = true
    this.#unread = null
    for (const stream of this.#streams.values()) stream.isOver = true
    this.#streams.clear()
    this.#outflow.clear()
  }

  /** Takes note of the time, in monotonic ms. */
  tick(now: number): void {
    const passed = this.#liveness.tick(now)
    this.#work = workOfTurn
    this.#idleFrames = Math.min(mostIdleFrames, this.#idleFrames + (passed * idleFramesPerSecond) / 1000)
    if (this.#liveness.isDead) this.#break('silence')
  }

  /** Takes bytes as they come; false where it is not done with them, and gets no more until `readOn` in another turn says that it is. */
  receive(bytes: Buffer): boolean {
    this.#liveness.heard()
    this.#unread = this.#unread === null ? bytes : Buffer.concat([this.#unread, bytes])
    return this.#read()
  }

  readOn(): boolean {
    this.#work = workOfTurn
    return this.#read()
  }

  #read(): boolean {
    const bytes = this.#unread
    if (bytes === null) return true
    this.#unread = null
    let at = 0
    while (at < bytes.length && at !== -1 && !this.#isClosed && this.#work-- > 0)
      at = this.#reader.next(bytes, at)
    if (at !== -1 && at < bytes.length && !this.#isClosed) this.#unread = bytes.subarray(at)
    this.#inflow.flush()
    return this.#unread === null
  }

  /** Part of reading, as the next two; not for callers. */
  frameBegun(type: number, flags: number, id: number, length: number): boolean {
    const isSettings = type === frameType.settings && (flags & flag.ack) === 0
    if (!this.#hasSettings && !isSettings) return this.#fail('protocol')
    if (length > frameLimit) return this.#fail('frame_size')
    if (this.#block.stream !== 0 && (type !== frameType.continuation || id !== this.#block.stream))
      return this.#fail('protocol')
    this.#type = type
    this.#flags = flags
    this.#id = id
    return type !== frameType.data || this.#beginData(length)
  }

  dataPart(bytes: Buffer, at: number, end: number, isLast: boolean): void {
    if (this.#padding === -1 && at < end) at = this.#readPadding(bytes, at)
    const stream = this.#dataStream
    if (this.#isClosed || stream === null) return
    const to = Math.min(end, at + this.#dataLeft)
    this.#dataLeft -= to - at
    if (to > at) this.#inflow.take(stream, bytes.subarray(at, to))
    if (isLast && this.#endsStream && !stream.isOver) this.#end(stream, null)
  }

  frame(bytes: Buffer, from: number, to: number): void {
    switch (this.#type) {
      case frameType.headers:
        return this.#headers(bytes, from, to)
      case frameType.continuation:
        return this.#continuation(bytes, from, to)
      case frameType.rstStream:
        return this.#reset(bytes, from, to)
      case frameType.settings:
        return this.#takeSettings(bytes, from, to)
      case frameType.ping:
        return this.#ping(bytes, from, to)
      case frameType.goAway:
        return this.#goAway(bytes, from, to)
      case frameType.windowUpdate:
        return this.#windowUpdate(bytes, from, to)
      case frameType.pushPromise:
        // We said that we take none.
        return this.#break('protocol')
      case frameType.priority:
        if (this.#id === 0) return this.#break('protocol')
        if (to - from !== 5) return this.#break('frame_size')
        return this.#idleFrame()
      default:
        // Frames of unknown types are passed over (RFC 9113 section 4.1).
        this.#idleFrame()
    }
  }

  get #endsStream(): boolean {
    return (this.#flags & flag.endStream) !== 0
  }

  // ── bodies ──

  #beginData(length: number): boolean {
    const stream = this.#takeWindow(this.#id, length)
    if (stream === false) return false
    const isPadded = (this.#flags & flag.padded) !== 0
    if (isPadded && length === 0) return this.#fail('frame_size')
    this.#padding = isPadded ? -1 : 0
    this.#dataLeft = length
    this.#dataStream = isPadded ? stream : this.#allowed(stream, length)
    return !this.#isClosed
  }

  /** Reads the length of the padding; returns the offset behind it. */
  #readPadding(bytes: Buffer, at: number): number {
    const stream = this.#dataStream
    this.#padding = bytes[at]!
    const length = this.#dataLeft - 1 - this.#padding
    this.#dataLeft = length
    this.#dataStream = null
    if (length < 0) this.#break('protocol')
    else if (stream !== null) {
      this.#dataStream = this.#allowed(stream, length)
      // Padding is given back though nobody reads it: a body of padding alone would stop at its window.
      if (!stream.isOver && !this.#endsStream) this.#inflow.giveBack(stream, this.#padding + 1)
    }
    return at + 1
  }

  /** Takes the bytes of a DATA frame from the windows; the stream, null for one that is over, false where there was no window for it. */
  #takeWindow(id: number, length: number): ClientStream | null | false {
    const stream = this.#streamOf(id)
    if (stream === false) return false
    if (!this.#inflow.spend(stream, length)) return this.#fail('flow_control')
    if (stream === null && length < leastStray) this.#idleFrame()
    return this.#isClosed ? false : stream
  }

  /** Returns the stream where its response may have so many bytes more; else fails it. */
  #allowed(stream: ClientStream | null, length: number): ClientStream | null {
    if (stream === null) return null
    const isEnd = this.#endsStream
    if (length === 0 && !isEnd) this.#idleFrame()
    if (this.#isClosed) return null
    if (!stream.hasHead) return this.#spoil(stream, 'bad_head')
    if (length > 0 && !stream.mayHaveBody) return this.#spoil(stream, 'bad_framing')
    if (stream.remaining === -1) return stream
    stream.remaining -= length
    const isWrong = stream.remaining < 0 || (isEnd && stream.remaining > 0)
    return isWrong ? this.#spoil(stream, 'bad_framing') : stream
  }

  #end(stream: ClientStream, trailers: string[] | null): void {
    // The windows of a stream that has all count no more.
    stream.heldEnd = { trailers }
    if (!stream.isPaused && stream.held.length === 0) this.#ended(stream, trailers)
  }

  #ended(stream: ClientStream, trailers: string[] | null): void {
    stream.isOver = true
    this.#drop(stream, stream.hasSentAll ? null : errorCode.cancel)
    stream.user.end(trailers)
    this.#keeper.changed()
  }

  // ── heads ──

  #headers(bytes: Buffer, from: number, to: number): void {
    if ((this.#flags & flag.padded) !== 0) {
      to -= to > from ? bytes[from]! : 1
      from++
    }
    if ((this.#flags & flag.priority) !== 0) from += 5
    if (from > to) return this.#break('protocol')
    if (this.#streamOf(this.#id) === false) return
    if ((this.#flags & flag.endHeaders) !== 0)
      return this.#readBlock(this.#id, this.#endsStream, bytes, from, to)
    this.#block.begin(this.#id, this.#flags)
    this.#addToBlock(bytes, from, to)
  }

  #continuation(bytes: Buffer, from: number, to: number): void {
    const { stream, flags } = this.#block
    if (stream === 0) return this.#break('protocol')
    if (!this.#addToBlock(bytes, from, to) || (this.#flags & flag.endHeaders) === 0) return
    const block = this.#block.take()
    this.#readBlock(stream, (flags & flag.endStream) !== 0, block, 0, block.length)
  }

  #addToBlock(bytes: Buffer, from: number, to: number): boolean {
    const limit = this.#block.add(bytes, from, to, blockLimits)
    return limit === null || this.#fail(limit === 'bytes' ? 'head_too_large' : 'flood')
  }

  #readBlock(id: number, isEnd: boolean, bytes: Buffer, from: number, to: number): void {
    this.#work -= workOfBlock
    const stream = this.#streams.get(id) ?? null
    if (stream === null || stream.isOver) {
      this.#idleFrame()
      if (this.#decoder.decode(bytes, from, to, 0, nobody) === -1) this.#break('compression')
    } else if (stream.hasHead) this.#readTrailers(stream, isEnd, bytes, from, to)
    else this.#readHead(stream, isEnd, bytes, from, to)
  }

  #readHead(stream: ClientStream, isEnd: boolean, bytes: Buffer, from: number, to: number): void {
    const fields = new ResponseFields()
    const size = this.#decoder.decode(bytes, from, to, largestHead, fields)
    if (size === -1) return this.#break('compression')
    if (size > largestHead) return void this.#spoil(stream, 'head_too_large')
    const { head } = fields
    if (fields.isMalformed || head.status === 0) return void this.#spoil(stream, 'bad_head')
    if (head.fault === 'framing') return void this.#spoil(stream, 'bad_framing')
    if (head.status >= 200) return this.#takeHead(stream, fields, isEnd)
    if (isEnd) return void this.#spoil(stream, 'bad_head')
    // Each goes on to the client, be it one field or as many as a head may have.
    this.#idleFrame(idleFramesOfInterim)
    if (!this.#isClosed) stream.user.interim(head)
  }

  #takeHead(stream: ClientStream, { head }: ResponseFields, isEnd: boolean): void {
    const { method } = stream.user
    stream.hasHead = true
    stream.mayHaveBody = method !== 'HEAD' && head.status !== 204 && head.status !== 304
    if (stream.mayHaveBody) stream.remaining = head.contentLength
    const lacks = isEnd && stream.remaining > 0
    if (lacks || (head.status === 204 && head.contentLength > 0))
      return void this.#spoil(stream, 'bad_framing')
    this.#inflow.touch(stream)
    // Where no more comes, that is known: a client of HTTP/1.1 would wait for the end of its connection.
    if (isEnd && stream.mayHaveBody) head.contentLength = 0
    stream.user.head(head, stream.mayHaveBody)
    if (isEnd && !stream.isOver) this.#end(stream, null)
  }

  #readTrailers(stream: ClientStream, isEnd: boolean, bytes: Buffer, from: number, to: number): void {
    const fields = new TrailerFields()
    const size = this.#decoder.decode(bytes, from, to, largestHead, fields)
    if (size === -1) return this.#break('compression')
    if (size > largestHead) return void this.#spoil(stream, 'head_too_large')
    if (fields.isMalformed || !isEnd || stream.remaining > 0) return void this.#spoil(stream, 'bad_framing')
    this.#end(stream, fields.fields)
  }

  // ── what the origin says of streams and of the connection ──

  #reset(bytes: Buffer, from: number, to: number): void {
    const id = this.#id
    if (to - from !== 4) return this.#break('frame_size')
    const stream = this.#streamOf(id)
    if (stream === false) return
    const code = bytes.readUInt32BE(from)
    if (stream === null) {
      // The response is here, and the rest of the request is not wanted.
      const whole = this.#streams.get(id)
      if (whole !== undefined) this.#outflow.stop(whole)
      return this.#idleFrame()
    }
    this.#over(stream, code === errorCode.refusedStream && !stream.hasHead ? 'refused' : 'reset')
    this.#keeper.changed()
  }

  #takeSettings(bytes: Buffer, from: number, to: number): void {
    if (this.#id !== 0) return this.#break('protocol')
    if ((this.#flags & flag.ack) !== 0) {
      if (to > from) return this.#break('frame_size')
      this.#liveness.settingsAcknowledged()
      return this.#idleFrame()
    }
    if ((to - from) % 6 !== 0) return this.#break('frame_size')
    this.#hasSettings = true
    const before = this.#peer.initialWindow
    const flaw = this.#peer.read(bytes, from, to)
    if (flaw !== null) return this.#break(faultOfSettings[flaw])
    if (this.#peer.limitsTable) this.#output.encoder.limitTable()
    const change = this.#peer.initialWindow - before
    if (change !== 0) this.#resizeWindows(change)
    this.#idleFrame()
    if (this.#isClosed) return
    this.#output.settingsAck()
    this.#wantFlush()
    this.#keeper.changed()
  }

  #resizeWindows(change: number): void {
    for (const stream of this.#streams.values()) {
      stream.sendWindow += change
      if (stream.sendWindow > largestWindow) return this.#break('flow_control')
    }
    if (this.#outflow.isWaiting) this.#wantFlush()
  }

  #ping(bytes: Buffer, from: number, to: number): void {
    if (this.#id !== 0) return this.#break('protocol')
    if (to - from !== 8) return this.#break('frame_size')
    this.#idleFrame()
    if (this.#isClosed) return
    if ((this.#flags & flag.ack) === 0) {
      this.#output.pingAck(bytes, from)
      return this.#wantFlush()
    }
    if (this.#liveness.answered()) this.#keeper.changed()
  }

  #goAway(bytes: Buffer, from: number, to: number): void {
    if (this.#id !== 0) return this.#break('protocol')
    if (to - from < 8) return this.#break('frame_size')
    const last = uint31(bytes, from)
    this.#idleFrame()
    this.#isLeaving = true
    for (const stream of [...this.#streams.values()])
      if (stream.id > last && stream.heldEnd === null)
        this.#over(stream, stream.hasHead ? 'reset' : 'refused')
    this.#keeper.changed()
  }

  #windowUpdate(bytes: Buffer, from: number, to: number): void {
    const id = this.#id
    if (to - from !== 4) return this.#break('frame_size')
    const more = uint31(bytes, from)
    if (id === 0) {
      if (more === 0) return this.#break('protocol')
      if (!this.#outflow.widen(more)) return this.#break('flow_control')
      return this.#windowOpened()
    }
    const stream = this.#streamOf(id)
    if (stream === false) return
    if (stream === null) return this.#idleFrame()
    stream.sendWindow += more
    if (more === 0) return void this.#spoil(stream, 'bad_framing')
    if (stream.sendWindow > largestWindow) return void this.#spoil(stream, 'bad_framing')
    this.#windowOpened()
  }

  /** A window that nobody waits for says as little as a PING; one in small pieces costs a frame each. */
  #windowOpened(): void {
    if (!this.#outflow.isWaiting) this.#idleFrame()
    else this.#wantFlush()
  }

  /** Finds a stream; null for one that is over, false after breaking for one that there never was. */
  #streamOf(id: number): ClientStream | null | false {
    const stream = this.#streams.get(id)
    if (stream !== undefined && stream.heldEnd === null) return stream
    if (id === 0 || (id & 1) === 0 || id >= this.#nextId) return this.#fail('protocol')
    return null
  }

  // ── ends ──

  /** Fails a stream for what its origin sent; the connection goes on. */
  #spoil(stream: ClientStream, fault: StreamFault): null {
    this.#output.rstStream(stream.id, errorCode.protocol)
    this.#idleFrame()
    this.#wantFlush()
    if (!stream.isOver) this.#over(stream, fault)
    this.#keeper.changed()
    return null
  }

  #over(stream: ClientStream, fault: StreamFault): void {
    this.#inflow.expectStrays(stream)
    this.#drop(stream, null)
    stream.isOver = true
    stream.user.failed(fault)
  }

  /** Forgets a stream, and tells the origin so where there is a code. */
  #drop(stream: ClientStream, code: number | null): void {
    if (!this.#streams.delete(stream.id)) return
    this.#outflow.stop(stream)
    this.#inflow.stop(stream)
    if (code === null) return
    if (stream.heldEnd === null) this.#inflow.expectStrays(stream)
    this.#output.rstStream(stream.id, code)
    this.#wantFlush()
  }

  /** Counts a frame that says nothing of a response. */
  #idleFrame(frames = 1): void {
    this.#idleFrames -= frames
    if (this.#idleFrames < 0) this.#break('flood')
  }

  #break(fault: SessionFault): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#output.goAway(0, codeOf[fault], fault)
    this.#keeper.broken(fault)
  }

  /** `#break` for places that return whether to go on. */
  #fail(fault: SessionFault): false {
    this.#break(fault)
    return false
  }

  #wantFlush(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    this.#keeper.mayFlush()
  }
}
