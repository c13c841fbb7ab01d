// The client's side of an HTTP/2 connection (RFC 9113); its owner moves the bytes, and sets the time.

import { FrameReader } from '../frames/frame-reader.ts'
import { FrameWriter } from '../frames/frame-writer.ts'
import { type ErrorCode, errorCode, setting } from '../frames/frames.ts'
import { PeerSettings } from '../frames/peer-settings.ts'
import { TurnWork, workOfTurn } from '../frames/turn-work.ts'
import { DataFrames } from './data-frames.ts'
import { HeaderBlocks, maxHead } from './header-blocks.ts'
import { Inflow } from './inflow.ts'
import { Liveness } from './liveness.ts'
import { type FrameRole, IncomingFrames } from '../session/incoming-frames.ts'
import { Outflow } from '../session/outflow.ts'
import type { RequestFields } from '../frames/request-block.ts'
import type { SessionCalls } from './session-calls.ts'
import { codeOf, faultOf, type SessionFault } from './session-fault.ts'
import type { ClientStream, StreamUser } from './stream.ts'
import { Streams } from './streams.ts'

interface SessionOwner {
  /** There are bytes to `take`; called once for all of them. */
  mayFlush(): void
  /** The remaining output is for the origin, and then the connection must be closed. */
  broken(fault: SessionFault): void
  changed(): void
}

/** Bytes of output up to which bodies are written. */
const outputGoal = 256 * 1024
/** Frames that carry nothing of a response: at once, and a second. */
const maxIdleFrames = 1_000
const idleFramesPerSecond = 100
/** And for each request and each frame of its body: window updates, and frames that cross its end. */
const idleFramesPerFrame = 4
/** Servers take more cancelled streams for an attack (rapid reset), and end all streams. */
const maxCancelled = 100
const initialStreams = 1

export class ClientSession implements FrameRole<ClientStream>, SessionCalls {
  isClosed = false
  readonly #owner: SessionOwner
  readonly #reader: FrameReader
  readonly #writer = new FrameWriter()
  readonly #outflow = new Outflow<ClientStream>(this.#writer, this, outputGoal)
  readonly #inflow = new Inflow(this.#writer, () => this.wantFlush())
  readonly #streams = new Streams(this, this.#writer, this.#outflow, this.#inflow)
  readonly #liveness: Liveness
  readonly #peer = new PeerSettings(0)
  readonly #frames: IncomingFrames<ClientStream>
  readonly #maxStreams: number
  #cancelled = 0
  #idleFrames = maxIdleFrames
  /** What may still be read in this turn, and what is left for the next one. */
  readonly #work = new TurnWork()
  #unread: Buffer | null = null
  #isFlushing = false

  constructor(owner: SessionOwner, maxStreams: number, now: number) {
    this.#owner = owner
    this.#maxStreams = maxStreams
    this.#liveness = new Liveness(now)
    const parts = {
      writer: this.#writer,
      outflow: this.#outflow,
      inflow: this.#inflow,
      streams: this.#streams,
      peer: this.#peer,
      work: this.#work,
    }
    const dataFrames = new DataFrames(this, parts)
    this.#frames = new IncomingFrames(this, new HeaderBlocks(this, parts), dataFrames, parts)
    this.#reader = new FrameReader(this.#frames)
    this.#writer.preface()
    this.#writer.settings([
      [setting.enablePush, 0],
      [setting.maxHeaderListSize, maxHead],
    ])
    this.#inflow.open()
  }

  get size(): number {
    return this.#streams.size
  }

  get room(): number {
    if (this.isLeaving || this.#liveness.isPingPending) return 0
    const granted = this.isGreeted ? this.#peer.maxConcurrentStreams : initialStreams
    return Math.max(0, Math.min(this.#maxStreams, granted) - this.#streams.size)
  }

  get isGreeted(): boolean {
    return this.#frames.hasSettings
  }

  get isSilent(): boolean {
    return this.#streams.size > 0 && this.#liveness.isSilent
  }

  get isPingFresh(): boolean {
    return this.#liveness.isPingFresh
  }

  get isPingLate(): boolean {
    return this.#liveness.isPingPending && !this.isPingFresh
  }

  /** The origin may soon take it for an attack. */
  get hasCancelledMany(): boolean {
    return this.#cancelled >= maxCancelled
  }

  get isLeaving(): boolean {
    return this.#streams.areLast || this.isClosed
  }

  get requests(): number {
    return this.#streams.opened
  }

  /** Requests that the origin accepted before it left in good order and refused others; else 0. */
  get requestsTaken(): number {
    return this.#streams.taken
  }

  open(user: StreamUser, fields: RequestFields, isWhole: boolean): ClientStream {
    this.#idleFrames += idleFramesPerFrame
    if (this.#streams.size === 0) this.#liveness.owes()
    const stream = this.#streams.open(user, this.#peer.initialWindow)
    if (isWhole) stream.close()
    this.#writer.request(stream.id, fields, isWhole)
    this.wantFlush()
    return stream
  }

  /** Returns false if the rest should wait for `drained`. */
  send(stream: ClientStream, bytes: Buffer): boolean {
    if (stream.isClosed || bytes.length === 0) return true
    this.wantFlush()
    return this.#outflow.write(stream, bytes)
  }

  endRequest(stream: ClientStream, trailers: string | null): void {
    if (stream.isClosed || stream.isWritten) return
    this.#outflow.end(stream, trailers)
    this.wantFlush()
  }

  pause(stream: ClientStream): void {
    stream.isPaused = true
  }

  resume(stream: ClientStream): void {
    if (!stream.isPaused) return
    stream.isPaused = false
    this.#inflow.release(stream)
    this.#streams.endHeld(stream)
  }

  /** The user gets no more events; does nothing if the stream is over. */
  cancel(stream: ClientStream): void {
    if (stream.isOver) return
    this.#cancelled++
    this.#streams.cancel(stream)
  }

  /** Sends a PING if nothing came since monotonic ms `since`; no stream is opened before its reply. */
  probe(since?: number): void {
    if (this.isClosed || !this.#liveness.probe(since)) return
    this.#writer.ping()
    this.wantFlush()
    this.#owner.changed()
  }

  take(): Buffer {
    this.#isFlushing = false
    this.#outflow.fill()
    return this.#writer.take()
  }

  /** Until the connection accepts more output, bodies wait. */
  written(mayGoOn: boolean): void {
    this.#outflow.goal = mayGoOn ? outputGoal : 0
    if (mayGoOn && this.#outflow.canSend) this.wantFlush()
  }

  drained({ user }: ClientStream): void {
    user.drained()
  }

  sent(stream: ClientStream): void {
    stream.close()
    if (stream.isStalled) stream.user.drained()
  }

  sentFrame(): void {
    this.#idleFrames += idleFramesPerFrame
  }

  leave(): void {
    if (this.isClosed) return
    this.#streams.areLast = true
    this.#writer.goAway(0, errorCode.none, '')
    this.wantFlush()
  }

  close(): void {
    this.isClosed = true
    this.#unread = null
    this.#streams.close()
  }

  /** Monotonic ms. */
  tick(now: number): void {
    const passed = this.#liveness.tick(now)
    this.#work.left = workOfTurn
    this.#idleFrames = Math.min(maxIdleFrames, this.#idleFrames + (passed * idleFramesPerSecond) / 1000)
    if (this.#liveness.isDead) this.fail('silence')
  }

  /** If false, the caller must bring no more until `readOn`, in other turns, returns true. */
  receive(bytes: Buffer): boolean {
    this.#liveness.received()
    this.#unread = this.#unread === null ? bytes : Buffer.concat([this.#unread, bytes])
    return this.#read()
  }

  readOn(): boolean {
    this.#work.left = workOfTurn
    return this.#read()
  }

  #read(): boolean {
    const bytes = this.#unread
    if (bytes === null) return true
    this.#unread = null
    let at = 0
    while (at < bytes.length && at !== -1 && !this.isClosed && this.#work.left-- > 0)
      at = this.#reader.next(bytes, at)
    if (at !== -1 && at < bytes.length && !this.isClosed) this.#unread = bytes.subarray(at)
    this.#inflow.flush()
    if (!this.isClosed && (this.#writer.length > 0 || this.#outflow.canSend)) this.wantFlush()
    return this.#unread === null
  }

  violated(code: ErrorCode, detail: string): false {
    return this.fail(faultOf[code] ?? 'protocol', detail)
  }

  streamError(stream: ClientStream, code: ErrorCode): void {
    if (stream.heldEnd === null) this.#streams.spoil(stream, 'bad_framing', code)
  }

  spendControl(frames = 1): boolean {
    this.#idleFrames -= frames
    if (this.#idleFrames < 0) this.fail('flood')
    return !this.isClosed
  }

  /** Without a waiting body it carries as little as a PING; in small pieces it costs a frame each. */
  spendWindowUpdate(stream: ClientStream | null | undefined): boolean {
    return (stream !== undefined && this.#outflow.stalledCount > 0) || this.spendControl()
  }

  settingsApplied(): void {
    this.changed()
  }

  settingsAcknowledged(): void {
    this.#liveness.settingsAcknowledged()
  }

  pingAcknowledged(): void {
    if (this.#liveness.pingAcknowledged()) this.changed()
  }

  rstStream(stream: ClientStream, code: ErrorCode): void {
    this.#streams.reset(stream, code)
  }

  goAway(last: number, code: ErrorCode): void {
    this.#streams.goAway(last, code)
  }

  changed(): void {
    this.#owner.changed()
  }

  fail(fault: SessionFault, detail: string = fault): false {
    if (this.isClosed) return false
    this.isClosed = true
    this.#writer.goAway(0, codeOf[fault], detail)
    this.#owner.broken(fault)
    return false
  }

  wantFlush(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    this.#owner.mayFlush()
  }
}
