// The server's side of an HTTP/2 connection (RFC 9113): bytes in, calls to the code that serves the requests,
// bytes out. Memory is bounded: for each stream a window of 64 KiB of unread body and what was written until
// the writer was told to wait; for the connection a header block, some 64 KiB of output besides heads, and 4
// KiB for each compression table.

import { Allowance } from './allowance.ts'
import { Budgets } from './budget.ts'
import { FrameReader } from '../frames/frame-reader.ts'
import { FrameWriter } from '../frames/frame-writer.ts'
import { type ErrorCode, errorCode, setting } from '../frames/frames.ts'
import { HeaderBlocks } from './header-blocks.ts'
import { Inflow } from './inflow.ts'
import { type FrameRole, IncomingFrames } from '../session/incoming-frames.ts'
import { Outflow } from '../session/outflow.ts'
import { maxWindow, PeerSettings } from '../frames/peer-settings.ts'
import type { FaultTaker } from './session-parts.ts'
import type { ReadState, SessionFault, SessionUser } from './session-user.ts'
import type { Stream } from './stream.ts'
import { Streams } from './streams.ts'
import { TurnWork, workOfRequest, workOfTurn } from '../frames/turn-work.ts'

/** RFC 9113 section 3.4. */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

/** Ms between the two steps of a shutdown, so that requests on their way arrive before the second. */
const shutdownPause = 1_000
/** Bytes of output up to which bodies are written. */
const outputGoal = 64 * 1024
/** Bytes of output at which reading pauses until they are taken. */
const maxOutput = 256 * 1024

interface SessionSettings {
  readonly maxConcurrentStreams: number
}

export class ServerSession<Owner> implements FrameRole<Stream<Owner>>, FaultTaker<Owner> {
  readonly #user: SessionUser<Owner>
  readonly #reader: FrameReader
  readonly #writer = new FrameWriter()
  readonly #streams: Streams<Owner>
  readonly #allowance: Allowance
  readonly #inflow: Inflow<Owner>
  readonly #outflow: Outflow<Stream<Owner>>
  readonly #headerBlocks: HeaderBlocks<Owner>
  readonly #frames: IncomingFrames<Stream<Owner>>
  #pending: Buffer | null = null
  #prefaceAt = 0
  readonly #work: TurnWork
  #isReading = false
  #isOver = false
  #isLeaving = false
  #shutdownAt = Number.POSITIVE_INFINITY
  #isAnnounced = false

  /** The budgets are less than full if the client has exhausted them recently. */
  constructor(
    user: SessionUser<Owner>,
    { maxConcurrentStreams }: SessionSettings,
    now: number,
    budgets: Budgets = new Budgets(now),
    work: TurnWork = new TurnWork(),
  ) {
    const writer = this.#writer
    const allowance = new Allowance(this, budgets, now, user.headTimeout)
    const outflow = new Outflow<Stream<Owner>>(writer, this, outputGoal)
    const streams = new Streams(user, writer, outflow, maxConcurrentStreams, now)
    const parts = { user, writer, outflow, streams, allowance, peer: new PeerSettings(1), work }
    this.#user = user
    this.#work = work
    this.#allowance = allowance
    this.#outflow = outflow
    this.#streams = streams
    this.#inflow = new Inflow(this, parts)
    this.#headerBlocks = new HeaderBlocks(this, parts, this.#inflow)
    this.#frames = new IncomingFrames(this, this.#headerBlocks, this.#inflow, parts)
    this.#reader = new FrameReader(this.#frames)
    writer.settings([
      [setting.maxConcurrentStreams, maxConcurrentStreams],
      [setting.maxHeaderListSize, user.limits.headerSection],
      [setting.enableConnectProtocol, 1],
      [setting.noRfc7540Priorities, 1],
    ])
    this.#inflow.open()
  }

  get budgets(): Budgets {
    return this.#allowance.budgets
  }

  get streamCount(): number {
    return this.#streams.size
  }

  /** Streams whose responses have not begun or wait for the client; those in a pause are left out. */
  get waitingCount(): number {
    return this.#streams.waitingCount
  }

  get stalledCount(): number {
    return this.#outflow.stalledCount
  }

  /** Bytes of responses that wait for the client, as of the last sweep. */
  get held(): number {
    return this.#streams.held
  }

  get requestCount(): number {
    return this.#headerBlocks.requestCount
  }

  get hasOutput(): boolean {
    return this.#writer.length > 0 || this.#outflow.canSend
  }

  /** Whether the connection can be closed after the last output. */
  get isDone(): boolean {
    const isLeaving = this.#isLeaving || this.#streams.areLast
    return this.#isOver || (isLeaving && this.#streams.size === 0)
  }

  /** Unless it returns 'done', the caller must pause the socket and call `readOn` until it does. */
  read(bytes: Buffer, now: number): ReadState {
    this.keep(bytes)
    return this.#readNow(now)
  }

  keep(bytes: Buffer): void {
    this.#pending = this.#pending === null ? bytes : Buffer.concat([this.#pending, bytes])
  }

  readOn(now: number, work = workOfTurn): ReadState {
    this.#work.left = work
    return this.#readNow(now)
  }

  #readNow(now: number): ReadState {
    if (this.#isReading) return 'done'
    this.#isReading = true
    this.#allowance.now = now
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
      if (this.#work.left <= 0 || this.#writer.length > maxOutput) {
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

  violated(code: ErrorCode, detail: string): false {
    return this.fail(code === errorCode.enhanceYourCalm ? 'control_frames' : 'protocol', code, detail)
  }

  spendControl(): boolean {
    return this.#allowance.spendControl()
  }

  spendWindowUpdate(): boolean {
    return this.#allowance.spendControl()
  }

  settingsApplied(): void {
    this.#allowance.headWhole()
  }

  settingsAcknowledged(): void {
    this.#allowance.settingsAcknowledged()
  }

  pingAcknowledged(): void {}

  rstStream(stream: Stream<Owner>): void {
    // It may have to close a connection to an origin.
    this.#work.left -= workOfRequest
    this.#streams.drop(stream, 'reset')
    if (stream.lingersUntil > 0) return void this.#allowance.spendControl()
    this.#user.aborted(stream, 'client_reset')
    this.#allowance.spendReset()
  }

  goAway(): void {
    this.#isLeaving = true
  }

  /** Null for nothing. To be called again when that is written, since its memory is reused. */
  takeOutput(): Buffer | null {
    this.#writer.reclaim()
    this.#outflow.fill()
    if (this.#writer.length > 0) return this.#writer.take()
    this.#isAnnounced = false
    return null
  }

  readBody(stream: Stream<Owner>): void {
    this.#inflow.read(stream)
    this.#announce()
  }

  /** The client may send one more window. */
  pauseBody(stream: Stream<Owner>): void {
    stream.isBodyWanted = false
  }

  /**
   * Any 1xx but 101 (RFC 9113 section 8.1); lines are latin1, `Name: value\r\n` each. Left out if the client
   * reads nothing: an origin may send any number.
   */
  interim(stream: Stream<Owner>, status: number, lines: string, secret = false): void {
    if (stream.isClosed || stream.hasResponded || this.#writer.length > maxOutput) return
    this.#writer.headers(stream.id, status, lines, false, secret)
    this.#announce()
  }

  /** Lines likewise, names in any case; `ended` if there is no body. */
  respond(stream: Stream<Owner>, status: number, lines: string, ended: boolean, secret = false): void {
    if (stream.isClosed) return
    stream.hasResponded = true
    this.#writer.headers(stream.id, status, lines, ended, secret)
    if (ended) {
      stream.isWritten = true
      this.sent(stream)
    }
    this.#announce()
  }

  /** The bytes must not change any more; returns false if the rest must wait for `drained`. */
  write(stream: Stream<Owner>, bytes: Buffer): boolean {
    if (stream.isClosed || bytes.length === 0) return true
    const mayGoOn = this.#outflow.write(stream, bytes)
    if (mayGoOn) this.#announce()
    // The user must know that it waits, even if there is no output to take.
    else this.#user.outputReady()
    return mayGoOn
  }

  /**
   * Ends the response after what waits of it; `trailers` are flat, null for none. An incomplete request has
   * two seconds to end, and is then reset.
   */
  end(stream: Stream<Owner>, trailers: readonly string[] | null): void {
    if (stream.isClosed || stream.isWritten) return
    this.#outflow.end(stream, trailers === null ? null : linesOf(trailers))
    this.#announce()
  }

  reset(stream: Stream<Owner>, code: ErrorCode): void {
    if (stream.isClosed) return
    this.#streams.reset(stream, code)
    this.#announce()
  }

  drained(stream: Stream<Owner>): void {
    this.#user.drained(stream)
  }

  /** Ends a stream whose response is sent; part of sending, like `drained` and `sentFrame`. */
  sent(stream: Stream<Owner>): void {
    this.#allowance.earnByResponse()
    if (stream.isRequestWhole) return this.#streams.drop(stream, 'ended')
    this.#streams.linger(stream, this.#allowance.now)
    this.#inflow.discard(stream)
  }

  sentFrame(isCut: boolean): void {
    if (!isCut) this.#allowance.earnByFrame()
  }

  /** In two steps (RFC 9113 section 6.8): for a second, requests on their way are accepted. */
  shutdown(now: number): void {
    if (this.#shutdownAt !== Number.POSITIVE_INFINITY || this.#isOver) return
    this.#writer.goAway(maxWindow, errorCode.none, '')
    this.#shutdownAt = now + shutdownPause
    this.#announce()
  }

  /**
   * To be called about once a second. `responseRate`: bytes a second that a client must read, 0 for any. If
   * the client `isOverdrawn`, it must have read some since the last call.
   */
  sweep(now: number, responseRate: number, isOverdrawn = false): void {
    if (this.#isOver) return
    this.#allowance.now = now
    if (this.#allowance.isInTime()) this.#streams.sweep(now, responseRate, isOverdrawn)
    if (now >= this.#shutdownAt && !this.#streams.areLast)
      this.#writer.goAway(this.#streams.takeNoMore(), errorCode.none, '')
    this.#announce()
  }

  /** Charges a client for its unfinished requests, as if it had reset them. */
  leave(now: number): void {
    this.#allowance.now = now
    for (const { lingersUntil } of this.#streams.all())
      if (lingersUntil === 0 && !this.#allowance.spendReset()) return
  }

  exhaust(fault: SessionFault): void {
    this.fail(fault, errorCode.enhanceYourCalm, 'too much over several connections')
  }

  close(): void {
    if (!this.#isOver) this.#end()
  }

  streamError(stream: Stream<Owner>, code: ErrorCode, hasBegun = true): boolean {
    this.#streams.reset(stream, code)
    if (hasBegun && stream.lingersUntil === 0) this.#user.aborted(stream, 'malformed')
    this.#allowance.spendReset()
    return !this.#isOver
  }

  fail(fault: SessionFault, code: ErrorCode, detail: string): false {
    if (this.#isOver) return false
    this.#writer.goAway(this.#streams.highest, code, detail)
    this.#end()
    this.#announce()
    this.#user.failed(fault, detail)
    return false
  }

  #end(): void {
    this.#isOver = true
    this.#pending = null
    this.#frames.drop()
    this.#streams.end()
  }

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
