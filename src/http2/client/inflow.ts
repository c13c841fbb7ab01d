// Receives all response bodies of a connection within the windows that we grant (RFC 9113 section 5.2).

import type { FrameWriter } from '../frames/frame-writer.ts'
import { firstWindow } from '../frames/peer-settings.ts'
import type { ClientStream } from './stream.ts'

/** Given back as bytes arrive: a slow reader holds up no other stream. Their own windows bound them. */
const connectionWindow = 16 * 1024 * 1024
/** Growth of one stream's window, and of all together: 1 MiB is 50 MB/s over 20 ms. */
const maxStreamWindow = 1024 * 1024
const maxGrowth = 8 * 1024 * 1024

export class Inflow {
  readonly #writer: FrameWriter
  readonly #mayFlush: () => void
  readonly #touched: ClientStream[] = []
  /** Bytes not given back to the connection's window yet. */
  #received = 0
  #growth = 0
  /** Bytes that may still arrive for streams that are over. */
  #strays = 0

  constructor(writer: FrameWriter, mayFlush: () => void) {
    this.#writer = writer
    this.#mayFlush = mayFlush
  }

  open(): void {
    this.#writer.windowUpdate(0, connectionWindow - firstWindow)
  }

  /** Null for a stream that is over; returns false if the bytes exceed a window. */
  spend(stream: ClientStream | null, length: number): boolean {
    this.#received += length
    if (this.#received >= connectionWindow >> 1) {
      this.#writer.windowUpdate(0, this.#received)
      this.#received = 0
      this.#mayFlush()
    }
    if (stream === null) return (this.#strays -= length) >= 0
    return (stream.receiveWindow -= length) >= 0
  }

  take(stream: ClientStream, bytes: Buffer): void {
    if (stream.isPaused || stream.held.length > 0) stream.hold(bytes)
    else this.#deliver(stream, bytes)
  }

  release(stream: ClientStream): void {
    while (stream.held.length > 0 && !stream.isPaused && !stream.isOver)
      this.#deliver(stream, stream.held.shift()!)
    this.flush()
  }

  /** Lets the origin send more, and increasingly more as long as its reader keeps up. */
  giveBack(stream: ClientStream, bytes: number): void {
    stream.consumed += bytes
    if (stream.consumed < stream.fullWindow >> 1 || stream.heldEnd !== null) return
    let more = stream.consumed
    const growth = Math.min(stream.fullWindow, maxStreamWindow - stream.fullWindow)
    if (!stream.isPaused && growth > 0 && this.#growth + growth <= maxGrowth) {
      this.#growth += growth
      stream.fullWindow += growth
      more += growth
    }
    stream.consumed = 0
    stream.receiveWindow += more
    this.#writer.windowUpdate(stream.id, more)
    this.#mayFlush()
  }

  touch(stream: ClientStream): void {
    if (stream.isTouched) return
    stream.isTouched = true
    this.#touched.push(stream)
  }

  flush(): void {
    for (const stream of this.#touched.splice(0)) {
      stream.isTouched = false
      if (!stream.isOver) stream.user.flush()
    }
  }

  /** The origin may send up to its window before it knows that a stream is over. */
  expectStrays(stream: ClientStream): void {
    this.#strays += Math.max(0, stream.receiveWindow)
  }

  stop(stream: ClientStream): void {
    this.#growth -= stream.fullWindow - firstWindow
    stream.held.length = 0
  }

  #deliver(stream: ClientStream, bytes: Buffer): void {
    this.touch(stream)
    stream.user.data(bytes)
    if (!stream.isOver) this.giveBack(stream, bytes.length)
  }
}
