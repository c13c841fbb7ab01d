// Sends the bodies of all streams within the windows (RFC 9113 section 5.2), a frame of each in turn.

import { frameLimit } from '../frames/frame-reader.ts'
import type { FrameWriter } from '../frames/frame-writer.ts'
import { firstWindow, maxWindow } from '../frames/peer-settings.ts'
import type { SendingStream } from './sending-stream.ts'

interface Sender<Stream> {
  drained(stream: Stream): void
  sent(stream: Stream): void
  /** `isCut` if a window made the frame shorter than possible. */
  sentFrame(isCut: boolean): void
}

export class Outflow<Stream extends SendingStream> {
  /** Bytes of output up to which bodies are written; the rest waits, uncopied. */
  goal: number
  #sent = 0
  readonly #writer: FrameWriter
  readonly #sender: Sender<Stream>
  #window = firstWindow
  /** Streams that have something to send and a window for it, in turn. */
  #ready: Stream[] = []
  #next = 0
  #stalledCount = 0

  constructor(writer: FrameWriter, sender: Sender<Stream>, goal: number) {
    this.#writer = writer
    this.#sender = sender
    this.goal = goal
  }

  takeSent(): number {
    const sent = this.#sent
    this.#sent = 0
    return sent
  }

  get stalledCount(): number {
    return this.#stalledCount
  }

  get canSend(): boolean {
    return this.#next < this.#ready.length && (this.#window > 0 || this.#ready[this.#next]!.waiting === 0)
  }

  /** Returns false if no more should be written before `drained`. */
  write(stream: Stream, bytes: Buffer): boolean {
    let at = 0
    if (stream.waiting === 0 && this.#next === this.#ready.length)
      while (this.#writer.length < this.goal) {
        const length = this.#allowed(stream, bytes.length - at)
        if (length === 0) break
        this.#send(stream, bytes, at, length)
        at += length
      }
    if (at === bytes.length) return true
    if (stream.waiting === 0) this.#stalledCount++
    stream.queue(at === 0 ? bytes : bytes.subarray(at))
    stream.isStalled = true
    this.ready(stream)
    return false
  }

  end(stream: Stream, trailers: string | null): void {
    stream.isWritten = true
    stream.trailers = trailers
    if (stream.waiting === 0) this.#finish(stream)
  }

  close(stream: Stream): void {
    if (stream.waiting > 0) this.#stalledCount--
    stream.close()
  }

  fill(): void {
    while (this.canSend && this.#writer.length < this.goal) {
      const stream = this.#ready[this.#next++]!
      stream.isReady = false
      this.#sendFrame(stream)
      if (this.#next > 64 && this.#next * 2 > this.#ready.length) this.#compact()
    }
    if (this.#next === this.#ready.length) this.#compact()
  }

  ready(stream: Stream): void {
    if (stream.isReady || stream.waiting === 0 || stream.sendWindow <= 0) return
    stream.isReady = true
    this.#ready.push(stream)
  }

  /** Returns false if the window is too wide then. */
  widen(increment: number): boolean {
    this.#window += increment
    return this.#window <= maxWindow
  }

  #sendFrame(stream: Stream): void {
    if (stream.isClosed) return
    const { first, firstAt } = stream
    const length = this.#allowed(stream, first.length - firstAt)
    // A setting has shrunk its window since it became ready.
    if (length === 0) return
    this.#send(stream, first, firstAt, length)
    stream.unqueue(length)
    if (stream.waiting > 0) return this.ready(stream)
    this.#stalledCount--
    if (stream.isWritten) return this.#finish(stream)
    stream.isStalled = false
    this.#sender.drained(stream)
  }

  #finish(stream: Stream): void {
    if (stream.trailers === null) this.#writer.endStream(stream.id)
    else this.#writer.headers(stream.id, 0, stream.trailers, true)
    this.#sender.sent(stream)
  }

  #allowed(stream: Stream, length: number): number {
    return Math.max(0, Math.min(length, frameLimit, this.#window, stream.sendWindow))
  }

  #send(stream: Stream, bytes: Buffer, at: number, length: number): void {
    this.#writer.data(stream.id, bytes, at, at + length, false)
    this.#window -= length
    stream.sendWindow -= length
    stream.sentSince += length
    this.#sent += length
    this.#sender.sentFrame(length < frameLimit && at + length < bytes.length)
  }

  #compact(): void {
    this.#ready = this.#ready.slice(this.#next)
    this.#next = 0
  }
}
