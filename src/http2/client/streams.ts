// The streams of a connection to an origin: which are open, and how each ends.

import type { FrameWriter } from '../frames/frame-writer.ts'
import { errorCode } from '../frames/frames.ts'
import type { Inflow } from './inflow.ts'
import type { Outflow } from '../session/outflow.ts'
import type { SessionCalls } from './session-calls.ts'
import { ClientStream, type StreamFault, type StreamUser } from './stream.ts'

/** The numbers are used up with it. */
const lastStream = 0x7fff_0000

export class Streams {
  /** Whether no further one is to be opened: the origin wants none, or the numbers are used up. */
  areLast = false
  /** How many requests the origin has taken, where it refused later ones as it left by its own rule; 0 otherwise. */
  taken = 0
  readonly #session: SessionCalls
  readonly #output: FrameWriter
  readonly #outflow: Outflow<ClientStream>
  readonly #inflow: Inflow
  readonly #open = new Map<number, ClientStream>()
  #nextId = 1

  constructor(session: SessionCalls, output: FrameWriter, outflow: Outflow<ClientStream>, inflow: Inflow) {
    this.#session = session
    this.#output = output
    this.#outflow = outflow
    this.#inflow = inflow
  }

  /** How many are open. */
  get size(): number {
    return this.#open.size
  }

  /** Counts those that were ever opened. */
  get opened(): number {
    return this.#nextId >> 1
  }

  /** Opens one that may send so many bytes. */
  open(user: StreamUser, sendWindow: number): ClientStream {
    const stream = new ClientStream(this.#nextId, user, sendWindow)
    this.#nextId += 2
    if (this.#nextId > lastStream) this.areLast = true
    this.#open.set(stream.id, stream)
    return stream
  }

  /** Returns one whose request or response is not over. */
  get(id: number): ClientStream | undefined {
    return this.#open.get(id)
  }

  /** Returns all of these. */
  all(): Iterable<ClientStream> {
    return this.#open.values()
  }

  /** Finds one whose response is not over; null for one whose is, false after breaking for one that there never was. */
  find(id: number): ClientStream | null | false {
    const stream = this.#open.get(id)
    if (stream !== undefined && stream.heldEnd === null) return stream
    if (id === 0 || (id & 1) === 0 || id >= this.#nextId) return this.#session.fail('protocol')
    return null
  }

  /** Ends one whose response is whole, behind what its user has not read. */
  end(stream: ClientStream, trailers: string[] | null): void {
    // The windows of a stream that has all count no more.
    stream.heldEnd = { trailers }
    if (!stream.isPaused && stream.held.length === 0) this.#ended(stream, trailers)
  }

  /** Ends one whose user has read all that came before its end. */
  endHeld(stream: ClientStream): void {
    if (stream.heldEnd !== null && !stream.isPaused && !stream.isOver)
      this.#ended(stream, stream.heldEnd.trailers)
  }

  /** Cancels one. */
  cancel(stream: ClientStream): void {
    stream.isOver = true
    this.#drop(stream, errorCode.cancel)
    this.#session.changed()
  }

  /** Fails one for what its origin sent; the connection goes on. */
  spoil(stream: ClientStream, fault: StreamFault): null {
    this.#output.rstStream(stream.id, errorCode.protocol)
    this.#session.idleFrame()
    this.#session.wantFlush()
    if (!stream.isOver) this.fail(stream, fault)
    this.#session.changed()
    return null
  }

  /** Fails one whose origin has ended it. */
  fail(stream: ClientStream, fault: StreamFault): void {
    this.#inflow.expectStrays(stream)
    this.#drop(stream, null)
    stream.isOver = true
    stream.user.failed(fault)
  }

  /** Ends all with their session; their users hear nothing of it. */
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

  /** Forgets one, and tells the origin so where there is a code. */
  #drop(stream: ClientStream, code: number | null): void {
    if (!this.#open.delete(stream.id)) return
    this.#outflow.close(stream)
    this.#inflow.stop(stream)
    if (code === null) return
    if (stream.heldEnd === null) this.#inflow.expectStrays(stream)
    this.#output.rstStream(stream.id, code)
    this.#session.wantFlush()
  }
}
