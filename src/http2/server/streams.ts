// The streams of a session, what may still arrive for closed ones, and their deadlines.

import { ClosedStreams, type StreamEnd } from './closed-streams.ts'
import type { FrameWriter } from '../frames/frame-writer.ts'
import { type ErrorCode, errorCode } from '../frames/frames.ts'
import type { Outflow } from '../session/outflow.ts'
import { ResponsePace } from './response-pace.ts'
import type { SessionUser } from './session-user.ts'
import type { Stream } from './stream.ts'

/** Ms for the rest of a body: some clients take a reset for a failure (RFC 9113 section 8.1). */
const linger = 2_000

export class Streams<Owner> {
  highest = 0
  /** Bytes of responses that wait for the client, as of the last sweep. */
  held = 0
  readonly #user: SessionUser<Owner>
  readonly #writer: FrameWriter
  readonly #outflow: Outflow<Stream<Owner>>
  readonly #max: number
  readonly #open = new Map<number, Stream<Owner>>()
  readonly #closed = new ClosedStreams()
  readonly #pace: ResponsePace
  #pausingCount = 0
  /** In a shutdown, streams above it are refused. */
  #last = Number.POSITIVE_INFINITY

  constructor(
    user: SessionUser<Owner>,
    writer: FrameWriter,
    outflow: Outflow<Stream<Owner>>,
    max: number,
    now: number,
  ) {
    this.#user = user
    this.#writer = writer
    this.#outflow = outflow
    this.#max = max
    this.#pace = new ResponsePace(now)
  }

  get size(): number {
    return this.#open.size
  }

  /** Streams whose responses have not begun or wait for the client; sweeps leave out those in a pause. */
  get waitingCount(): number {
    return Math.max(0, this.#open.size - this.#pausingCount)
  }

  get areLast(): boolean {
    return this.#last !== Number.POSITIVE_INFINITY
  }

  get(id: number): Stream<Owner> | undefined {
    return this.#open.get(id)
  }

  all(): Iterable<Stream<Owner>> {
    return this.#open.values()
  }

  /** Whether no stream had this id yet, or can have it (RFC 9113 section 5.1). */
  isIdle(id: number): boolean {
    return id === 0 || id > this.highest || id % 2 === 0
  }

  endOf(id: number): StreamEnd | null {
    return this.#closed.endOf(id)
  }

  admits(id: number): boolean {
    return id <= this.#last && this.#open.size < this.#max
  }

  add(stream: Stream<Owner>): void {
    this.#open.set(stream.id, stream)
  }

  /** Nothing was done with the stream, so the client may retry. */
  refuse(id: number): void {
    this.#writer.rstStream(id, errorCode.refusedStream)
    this.#closed.add(id, 'reset_by_us')
  }

  takeNoMore(): number {
    this.#last = this.highest
    return this.#last
  }

  reset(stream: Stream<Owner>, code: ErrorCode): void {
    this.#writer.rstStream(stream.id, code)
    this.drop(stream, 'reset_by_us')
  }

  drop(stream: Stream<Owner>, end: StreamEnd): void {
    this.#outflow.close(stream)
    this.#open.delete(stream.id)
    this.#closed.add(stream.id, end)
  }

  linger(stream: Stream<Owner>, now: number): void {
    stream.close()
    stream.lingersUntil = now + linger
  }

  end(): void {
    this.held = 0
    const streams = [...this.#open.values()]
    this.#open.clear()
    for (const stream of streams) this.#outflow.close(stream)
    for (const stream of streams) if (stream.lingersUntil === 0) this.#user.aborted(stream, 'session')
  }

  /**
   * Ends the streams that are slower than `responseRate` (bytes a second, 0 for any), and those that have
   * lingered. If the client `isOverdrawn`, it must have read some since the last sweep.
   */
  sweep(now: number, responseRate: number, isOverdrawn: boolean): void {
    this.#pace.look(now, this.#outflow.takeSent(), isOverdrawn)
    this.#pausingCount = this.held = 0
    for (const stream of this.#open.values()) {
      if (stream.lingersUntil > 0) {
        if (now >= stream.lingersUntil) this.reset(stream, errorCode.none)
        continue
      }
      const fault = this.#pace.faultOf(stream, responseRate)
      if (fault !== null) {
        this.reset(stream, fault === 'slow' ? errorCode.cancel : errorCode.enhanceYourCalm)
        this.#user.aborted(stream, 'slow_reader')
      } else if (stream.waiting > 0) this.held += stream.waiting
      else if (stream.hasResponded) this.#pausingCount++
    }
  }
}
