// The streams of a session: which are open, what may still come for those that are not, and whether clients take their responses and finish their requests in time.

import { ClosedStreams, type StreamEnd } from './closed-streams.ts'
import type { FrameWriter } from '../frames/frame-writer.ts'
import { type ErrorCode, errorCode } from '../frames/frames.ts'
import type { Outflow } from '../session/outflow.ts'
import { ResponsePace } from './response-pace.ts'
import type { SessionUser } from './session-user.ts'
import type { Stream } from './stream.ts'

/** Ms in which a client may send the rest of a body whose response it has, since some take a reset for a failure even then (RFC 9113 section 8.1). */
const linger = 2_000

export class Streams<Owner> {
  /** The highest that the client has begun. */
  highest = 0
  /** Bytes of responses that wait for the client to take them, as of the last sweep. */
  held = 0
  readonly #user: SessionUser<Owner>
  readonly #writer: FrameWriter
  readonly #outflow: Outflow<Stream<Owner>>
  readonly #most: number
  readonly #open = new Map<number, Stream<Owner>>()
  readonly #closed = new ClosedStreams()
  readonly #pace: ResponsePace
  #pausingCount = 0
  /** Those above it are refused, in a shutdown. */
  #last = Number.POSITIVE_INFINITY

  /** Begins at monotonic ms `now`; `most` may be open. */
  constructor(
    user: SessionUser<Owner>,
    writer: FrameWriter,
    outflow: Outflow<Stream<Owner>>,
    most: number,
    now: number,
  ) {
    this.#user = user
    this.#writer = writer
    this.#outflow = outflow
    this.#most = most
    this.#pace = new ResponsePace(now)
  }

  /** How many are open. */
  get size(): number {
    return this.#open.size
  }

  /** How many have responses that have not begun, or wait for the client to take them; those that pause in between are left out by each sweep. */
  get waitingCount(): number {
    return Math.max(0, this.#open.size - this.#pausingCount)
  }

  /** Whether no further one is taken. */
  get areLast(): boolean {
    return this.#last !== Number.POSITIVE_INFINITY
  }

  /** Returns one that is open. */
  get(id: number): Stream<Owner> | undefined {
    return this.#open.get(id)
  }

  /** Returns all that are open. */
  all(): Iterable<Stream<Owner>> {
    return this.#open.values()
  }

  /** Whether none has this number yet, or ever: then nothing may come for it (RFC 9113 section 5.1). */
  isIdle(id: number): boolean {
    return id === 0 || id > this.highest || id % 2 === 0
  }

  /** Returns how one has ended; null where it never was, or long ago. */
  endOf(id: number): StreamEnd | null {
    return this.#closed.endOf(id)
  }

  /** Whether another one may be opened. */
  admits(id: number): boolean {
    return id <= this.#last && this.#open.size < this.#most
  }

  add(stream: Stream<Owner>): void {
    this.#open.set(stream.id, stream)
  }

  /** Refuses one with which nothing was done, so that the client may try again. */
  refuse(id: number): void {
    this.#writer.rstStream(id, errorCode.refusedStream)
    this.#closed.add(id, 'reset_by_us')
  }

  /** Takes none from now on; returns the last that was. */
  takeNoMore(): number {
    this.#last = this.highest
    return this.#last
  }

  /** Ends one by a reset; what waits is dropped. */
  reset(stream: Stream<Owner>, code: ErrorCode): void {
    this.#writer.rstStream(stream.id, code)
    this.drop(stream, 'reset_by_us')
  }

  /** Forgets one that has ended; what waits is dropped. */
  drop(stream: Stream<Owner>, end: StreamEnd): void {
    this.#outflow.close(stream)
    this.#open.delete(stream.id)
    this.#closed.add(stream.id, end)
  }

  /** Leaves the client some time from monotonic ms `now` for the rest of a request whose response is sent. */
  linger(stream: Stream<Owner>, now: number): void {
    stream.close()
    stream.lingersUntil = now + linger
  }

  /** Ends all with their session. */
  end(): void {
    this.held = 0
    const streams = [...this.#open.values()]
    this.#open.clear()
    for (const stream of streams) this.#outflow.close(stream)
    for (const stream of streams) if (stream.lingersUntil === 0) this.#user.aborted(stream, 'session')
  }

  /** Ends at monotonic ms `now` those that are too slow by so many bytes a second, 0 for any, and those that have lingered; where a client is overdrawn, it must have allowed some since the last time. */
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
