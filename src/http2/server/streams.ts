// The streams of a session: which are open, what may still arrive for closed ones, and whether clients read
// their responses and finish their requests in time.

import { ClosedStreams, type StreamEnd } from './closed-streams.ts'
import type { FrameWriter } from '../frames/frame-writer.ts'
import { type ErrorCode, errorCode } from '../frames/frames.ts'
import type { Outflow } from '../session/outflow.ts'
import { ResponsePace } from './response-pace.ts'
import type { SessionUser } from './session-user.ts'
import type { Stream } from './stream.ts'

/**
 * Ms in which a client may send the rest of a body whose response it has, since some take a reset for a
 * failure even then (RFC 9113 section 8.1).
 */
const linger = 2_000

export class Streams<Owner> {
  /** The highest id that the client has used. */
  highest = 0
  /** Bytes of responses that wait for the client to read, as of the last sweep. */
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

  /** Begins at monotonic ms `now`; `max` streams may be open. */
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

  /** Open streams. */
  get size(): number {
    return this.#open.size
  }

  /**
   * Streams whose responses have not begun, or wait for the client to read; each sweep leaves out those that
   * pause in between.
   */
  get waitingCount(): number {
    return Math.max(0, this.#open.size - this.#pausingCount)
  }

  /** Whether no further stream is accepted. */
  get areLast(): boolean {
    return this.#last !== Number.POSITIVE_INFINITY
  }

  get(id: number): Stream<Owner> | undefined {
    return this.#open.get(id)
  }

  all(): Iterable<Stream<Owner>> {
    return this.#open.values()
  }

  /**
   * Whether no stream had this id yet, or can have it: then nothing may come for it (RFC 9113 section 5.1).
   */
  isIdle(id: number): boolean {
    return id === 0 || id > this.highest || id % 2 === 0
  }

  /** Returns how a stream has ended; null if it never existed, or ended long ago. */
  endOf(id: number): StreamEnd | null {
    return this.#closed.endOf(id)
  }

  /** Whether another stream may be opened. */
  admits(id: number): boolean {
    return id <= this.#last && this.#open.size < this.#max
  }

  add(stream: Stream<Owner>): void {
    this.#open.set(stream.id, stream)
  }

  /** Refuses a stream before anything was done with it, so that the client may retry. */
  refuse(id: number): void {
    this.#writer.rstStream(id, errorCode.refusedStream)
    this.#closed.add(id, 'reset_by_us')
  }

  /** Accepts no further stream; returns the last accepted one. */
  takeNoMore(): number {
    this.#last = this.highest
    return this.#last
  }

  /** Resets a stream; what waits is dropped. */
  reset(stream: Stream<Owner>, code: ErrorCode): void {
    this.#writer.rstStream(stream.id, code)
    this.drop(stream, 'reset_by_us')
  }

  /** Forgets a stream that has ended; what waits is dropped. */
  drop(stream: Stream<Owner>, end: StreamEnd): void {
    this.#outflow.close(stream)
    this.#open.delete(stream.id)
    this.#closed.add(stream.id, end)
  }

  /** Starts the time, at monotonic ms `now`, in which the client may finish a request whose response is sent. */
  linger(stream: Stream<Owner>, now: number): void {
    stream.close()
    stream.lingersUntil = now + linger
  }

  /** Ends all streams with their session. */
  end(): void {
    this.held = 0
    const streams = [...this.#open.values()]
    this.#open.clear()
    for (const stream of streams) this.#outflow.close(stream)
    for (const stream of streams) if (stream.lingersUntil === 0) this.#user.aborted(stream, 'session')
  }

  /**
   * At monotonic ms `now`, ends the streams that are slower than so many bytes a second, 0 for any, and those
   * that have lingered. If the client `isOverdrawn`, it must have read some since the last sweep.
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
