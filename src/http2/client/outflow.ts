// Sends the bodies of all requests of a connection through its windows (RFC 9113 section 5.2), a frame of each in turn, so that one stream keeps no other waiting.

import { frameLimit } from '../frames/frame-reader.ts'
import type { FrameWriter } from '../frames/frame-writer.ts'
import { firstWindow, largestWindow } from '../frames/peer-settings.ts'
import type { ClientStream } from './stream.ts'

/** Bytes of bodies that are made into frames at a time. */
const mostQueued = 256 * 1024

const empty = Buffer.alloc(0)

export class Outflow {
  readonly #output: FrameWriter
  /** Takes note that a frame of a body was sent. */
  readonly #sentFrame: () => void
  /** Those with something to send, in turn. */
  readonly #sending = new Set<ClientStream>()
  /** Those whose users wait to be told that more may be sent. */
  readonly #toldToWait = new Set<ClientStream>()
  #window = firstWindow
  /** Whether the connection takes more at once. */
  #mayWrite = true

  constructor(output: FrameWriter, sentFrame: () => void) {
    this.#output = output
    this.#sentFrame = sentFrame
  }

  /** Whether a body waits to be sent. */
  get isWaiting(): boolean {
    return this.#sending.size > 0
  }

  /** Takes bytes of a body; false where its user is to wait until it is told to go on. */
  send(stream: ClientStream, bytes: Buffer): boolean {
    stream.pending.push(bytes)
    stream.pendingSize += bytes.length
    this.#sending.add(stream)
    const mayGoOn = this.#mayWrite && stream.pendingSize <= Math.min(stream.sendWindow, this.#window)
    if (!mayGoOn) this.#toldToWait.add(stream)
    return mayGoOn
  }

  /** Ends a body behind what waits of it; the trailers are lines, null for none. */
  end(stream: ClientStream, trailers: string | null): void {
    stream.isEnding = true
    stream.trailers = trailers
    this.#sending.add(stream)
  }

  /** Drops what waits of a body. */
  stop(stream: ClientStream): void {
    this.#sending.delete(stream)
    this.#toldToWait.delete(stream)
    stream.pending.length = 0
    stream.pendingSize = 0
    stream.hasSentAll = true
  }

  clear(): void {
    this.#sending.clear()
    this.#toldToWait.clear()
  }

  /** Widens the window of the connection; false where it would become too wide. */
  widen(increment: number): boolean {
    this.#window += increment
    return this.#window <= largestWindow
  }

  /** Takes note whether the connection takes more at once. */
  written(mayGoOn: boolean): void {
    this.#mayWrite = mayGoOn
    if (mayGoOn) this.#tellDrained()
  }

  /** Makes frames of what streams have to send, as far as the windows allow and the connection takes it. */
  fill(): void {
    let isStuck = false
    while (!isStuck && this.#mayWrite && this.#sending.size > 0 && this.#output.length < mostQueued) {
      isStuck = true
      for (const stream of this.#sending) if (this.#sendOne(stream)) isStuck = false
    }
    if (this.#mayWrite) this.#tellDrained()
  }

  /** Sends a frame of a stream; false where it has none, or no window. */
  #sendOne(stream: ClientStream): boolean {
    const first = stream.pending[0]
    if (first === undefined) return this.#finish(stream)
    const length = Math.min(first.length, frameLimit, stream.sendWindow, this.#window)
    if (length <= 0) return false
    if (length === first.length) stream.pending.shift()
    else stream.pending[0] = first.subarray(length)
    stream.pendingSize -= length
    stream.sendWindow -= length
    this.#window -= length
    const isEnd = stream.isEnding && stream.pendingSize === 0 && stream.trailers === null
    this.#output.data(stream.id, first, 0, length, isEnd)
    this.#sentFrame()
    if (isEnd) this.#sentAll(stream)
    else if (stream.pendingSize === 0 && !stream.isEnding) this.#sending.delete(stream)
    return true
  }

  #finish(stream: ClientStream): boolean {
    if (!stream.isEnding) this.#sending.delete(stream)
    else {
      if (stream.trailers === null) this.#output.data(stream.id, empty, 0, 0, true)
      else this.#output.headers(stream.id, 0, stream.trailers, true)
      this.#sentAll(stream)
    }
    return false
  }

  #sentAll(stream: ClientStream): void {
    stream.hasSentAll = true
    this.#sending.delete(stream)
  }

  #tellDrained(): void {
    for (const stream of this.#toldToWait)
      if (stream.pendingSize === 0) {
        this.#toldToWait.delete(stream)
        stream.user.drained()
      }
  }
}
