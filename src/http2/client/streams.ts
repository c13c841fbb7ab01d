// The streams of a connection to an origin: which are open, and how each ends.

import type { FrameWriter } from '../frames/frame-writer.ts'
import { type ErrorCode, errorCode } from '../frames/frames.ts'
import type { Inflow } from './inflow.ts'
import type { Outflow } from '../session/outflow.ts'
import type { SessionCalls } from './session-calls.ts'
import { ClientStream, type StreamFault, type StreamUser } from './stream.ts'

const lastStream = 0x7fff_0000

/** The origin has not processed the request. */
const untouched: ReadonlyMap<number, StreamFault> = new Map([
  [errorCode.refusedStream, 'refused'],
  [errorCode.http11Required, 'http1_required'],
])

export class Streams {
  /** The origin accepts no further stream, or the ids are used up. */
  areLast = false
  /** Requests that the origin accepted before it left in good order and refused others; else 0. */
  taken = 0
  readonly #session: SessionCalls
  readonly #writer: FrameWriter
  readonly #outflow: Outflow<ClientStream>
  readonly #inflow: Inflow
  readonly #open = new Map<number, ClientStream>()
  #nextId = 1

  constructor(session: SessionCalls, writer: FrameWriter, outflow: Outflow<ClientStream>, inflow: Inflow) {
    this.#session = session
    this.#writer = writer
    this.#outflow = outflow
    this.#inflow = inflow
  }

  get size(): number {
    return this.#open.size
  }

  get opened(): number {
    return this.#nextId >> 1
  }

  open(user: StreamUser, sendWindow: number): ClientStream {
    const stream = new ClientStream(this.#nextId, user, sendWindow)
    this.#nextId += 2
    if (this.#nextId > lastStream) this.areLast = true
    this.#open.set(stream.id, stream)
    return stream
  }

  get(id: number): ClientStream | undefined {
    return this.#open.get(id)
  }

  all(): Iterable<ClientStream> {
    return this.#open.values()
  }

  /** Null if the response is over, or false (failing the session) if the id was never used. */
  find(id: number): ClientStream | null | false {
    const stream = this.#open.get(id)
    if (stream !== undefined && stream.heldEnd === null) return stream
    return this.isIdle(id) ? this.#session.fail('protocol') : null
  }

  /** Whether no stream had this id yet, or can have it (RFC 9113 section 5.1). */
  isIdle(id: number): boolean {
    return id === 0 || id % 2 === 0 || id >= this.#nextId
  }

  /** Ends the stream after its reader has read everything. */
  end(stream: ClientStream, trailers: string[] | null): void {
    // The windows of a complete response no longer matter.
    stream.heldEnd = { trailers }
    if (!stream.isPaused && stream.held.length === 0) this.#ended(stream, trailers)
  }

  endHeld(stream: ClientStream): void {
    if (stream.heldEnd !== null && !stream.isPaused && !stream.isOver)
      this.#ended(stream, stream.heldEnd.trailers)
  }

  cancel(stream: ClientStream): void {
    stream.isOver = true
    this.#drop(stream, errorCode.cancel)
    this.#session.changed()
  }

  spoil(stream: ClientStream, fault: StreamFault, code: ErrorCode = errorCode.protocol): null {
    this.#writer.rstStream(stream.id, code)
    this.#session.spendControl()
    if (!stream.isOver) this.#fail(stream, fault)
    this.#session.changed()
    return null
  }

  /** If the response is whole, only the rest of the request is not wanted. */
  reset(stream: ClientStream, code: ErrorCode): void {
    if (stream.heldEnd !== null) {
      this.#outflow.close(stream)
      return void this.#session.spendControl()
    }
    this.#fail(stream, stream.hasHead ? 'reset' : (untouched.get(code) ?? 'reset'))
    this.#session.changed()
  }

  /** Opens no more streams, and ends those above the last one that the origin has taken. */
  goAway(last: number, code: ErrorCode): void {
    const taken = (last + 1) >> 1
    if (code === errorCode.none && taken < this.opened) this.taken = taken
    this.areLast = true
    const fault = untouched.get(code) ?? 'refused'
    for (const stream of [...this.#open.values()])
      if (stream.id > last && stream.heldEnd === null) this.#fail(stream, stream.hasHead ? 'reset' : fault)
    this.#session.changed()
  }

  #fail(stream: ClientStream, fault: StreamFault): void {
    this.#inflow.expectStrays(stream)
    this.#drop(stream, null)
    stream.isOver = true
    stream.user.failed(fault)
  }

  close(): void {
    for (const stream of this.#open.values()) {
      stream.isOver = true
      this.#outflow.close(stream)
    }
    this.#open.clear()
  }

  #ended(stream: ClientStream, trailers: string[] | null): void {
    stream.isOver = true
    this.#drop(stream, stream.isClosed ? null : errorCode.cancel)
    stream.user.end(trailers)
    this.#session.changed()
  }

  #drop(stream: ClientStream, code: number | null): void {
    if (!this.#open.delete(stream.id)) return
    this.#outflow.close(stream)
    this.#inflow.stop(stream)
    if (code === null) return
    if (stream.heldEnd === null) this.#inflow.expectStrays(stream)
    this.#writer.rstStream(stream.id, code)
    this.#session.wantFlush()
  }
}
