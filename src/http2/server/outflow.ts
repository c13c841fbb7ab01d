// Sends the bodies of all responses of a connection through its windows (RFC 9113 section 5.2), in turns, so that one stream keeps no other waiting.

import { frameLimit } from '../frames/frame-reader.ts'
import type { FrameWriter } from '../frames/frame-writer.ts'
import { firstWindow, largestWindow } from '../frames/peer-settings.ts'
import type { Stream } from './stream.ts'

/** Bytes of output up to which bodies are written into it; more wait, uncopied, until it was taken. */
const outputGoal = 64 * 1024

/** What a stream is told that can go on, or has sent everything. */
interface Sender<Owner> {
  drained(stream: Stream<Owner>): void
  /** The response is whole and sent. */
  sent(stream: Stream<Owner>): void
  /** A frame of data was sent that no window has cut short. */
  sentFrame(): void
}

export class Outflow<Owner> {
  #sent = 0
  readonly #writer: FrameWriter
  readonly #sender: Sender<Owner>
  #window = firstWindow
  /** Streams that have something to send, and a window for it, in turns. */
  #ready: Stream<Owner>[] = []
  #next = 0
  #stalledCount = 0

  constructor(writer: FrameWriter, sender: Sender<Owner>) {
    this.#writer = writer
    this.#sender = sender
  }

  /** Returns how many bytes were sent of all bodies since the last time. */
  takeSent(): number {
    const sent = this.#sent
    this.#sent = 0
    return sent
  }

  /** Streams of which something waits for the client to take it. */
  get stalledCount(): number {
    return this.#stalledCount
  }

  /** Whether something could be sent at once. */
  get canSend(): boolean {
    return this.#next < this.#ready.length && (this.#window > 0 || this.#ready[this.#next]!.waiting === 0)
  }

  /** Sends bytes of a body, or has them wait; false where the rest is not to come before `drained`. */
  write(stream: Stream<Owner>, bytes: Buffer): boolean {
    let at = 0
    if (stream.waiting === 0 && this.#next === this.#ready.length)
      while (at < bytes.length && this.#writer.length < outputGoal) {
        const length = this.#allowed(stream, bytes.length - at)
        if (length === 0) break
        this.#send(stream, bytes, at, length, false)
        at += length
      }
    if (at === bytes.length) return true
    if (stream.waiting === 0) this.#stalledCount++
    stream.queue(at === 0 ? bytes : bytes.subarray(at))
    stream.isStalled = true
    this.ready(stream)
    return false
  }

  /** Closes a stream, and drops what waits of it. */
  close(stream: Stream<Owner>): void {
    if (stream.waiting > 0) this.#stalledCount--
    stream.close()
  }

  /** Ends a body, behind what waits of it. */
  end(stream: Stream<Owner>): void {
    if (stream.waiting > 0) return
    this.#finish(stream)
  }

  /** Fills the output up to its goal. */
  fill(): void {
    while (this.canSend && this.#writer.length < outputGoal) {
      const stream = this.#ready[this.#next++]!
      stream.isReady = false
      this.#sendSome(stream)
      if (this.#next > 64 && this.#next * 2 > this.#ready.length) this.#compact()
    }
    if (this.#next === this.#ready.length) this.#compact()
  }

  /** Puts a stream among those that take turns, where it has something to send and its window is open. */
  ready(stream: Stream<Owner>): void {
    if (stream.isReady || stream.isClosed || stream.waiting === 0 || stream.sendWindow <= 0) return
    stream.isReady = true
    this.#ready.push(stream)
  }

  /** Widens the window of the connection; false where it would become too wide. */
  widen(increment: number): boolean {
    this.#window += increment
    return this.#window <= largestWindow
  }

  #sendSome(stream: Stream<Owner>): void {
    if (stream.isClosed) return
    const { first, firstAt } = stream
    const length = this.#allowed(stream, first.length - firstAt)
    // Its window has shrunk meanwhile, by a setting.
    if (length === 0) return
    const isLast = length === stream.waiting && stream.isResponseOver && stream.responseTrailers === null
    this.#send(stream, first, firstAt, length, isLast)
    stream.taken(length)
    if (stream.waiting > 0) return this.ready(stream)
    this.#stalledCount--
    if (stream.isResponseOver) return isLast ? this.#sender.sent(stream) : this.#finish(stream)
    if (!stream.isStalled) return
    stream.isStalled = false
    this.#sender.drained(stream)
  }

  #finish(stream: Stream<Owner>): void {
    const { responseTrailers: trailers } = stream
    if (trailers === null) this.#writer.endStream(stream.id)
    else this.#writer.headers(stream.id, 0, trailers, true)
    this.#sender.sent(stream)
  }

  #allowed(stream: Stream<Owner>, wanted: number): number {
    return Math.max(0, Math.min(wanted, frameLimit, this.#window, stream.sendWindow))
  }

  #send(stream: Stream<Owner>, bytes: Buffer, at: number, length: number, isLast: boolean): void {
    this.#writer.data(stream.id, bytes, at, at + length, isLast)
    this.#window -= length
    stream.sendWindow -= length
    stream.sentSince += length
    this.#sent += length
    if (length === frameLimit || at + length === bytes.length) this.#sender.sentFrame()
  }

  #compact(): void {
    this.#ready = this.#ready.slice(this.#next)
    this.#next = 0
  }
}
