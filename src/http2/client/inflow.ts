// Takes the bodies of all responses of a connection within the windows that we grant (RFC 9113 section 5.2), and keeps what comes for those who do not read now.

import type { FrameWriter } from '../frames/frame-writer.ts'
import { firstWindow } from '../frames/peer-settings.ts'
import type { ClientStream } from './stream.ts'

/** Bytes of the connection's window. It is given back as bytes come, so that it is never used up and a stream whose reader is slow holds up no other; each stream's own window bounds what may wait. */
const connectionWindow = 16 * 1024 * 1024
/** To what a stream's window may grow, and by how much those of all streams together: 1 MiB is 50 MB/s over 20 ms. */
const widestWindow = 1024 * 1024
const mostGrowth = 8 * 1024 * 1024

export class Inflow {
  readonly #output: FrameWriter
  readonly #mayFlush: () => void
  /** Those to be told that all that was read is delivered. */
  readonly #touched: ClientStream[] = []
  /** Bytes that were not given back to the connection's window. */
  #received = 0
  #growth = 0
  /** Bytes that may still come for streams that are over. */
  #strays = 0

  /** `mayFlush` is called when there is something to be sent. */
  constructor(output: FrameWriter, mayFlush: () => void) {
    this.#output = output
    this.#mayFlush = mayFlush
  }

  /** Opens the connection's window, behind the preface. */
  open(): void {
    this.#output.windowUpdate(0, connectionWindow - firstWindow)
  }

  /** Takes the bytes of a frame from the windows, null for a stream that is over; false where there was no window for them. */
  spend(stream: ClientStream | null, length: number): boolean {
    this.#received += length
    if (this.#received >= connectionWindow >> 1) {
      this.#output.windowUpdate(0, this.#received)
      this.#received = 0
      this.#mayFlush()
    }
    if (stream === null) return (this.#strays -= length) >= 0
    return (stream.receiveWindow -= length) >= 0
  }

  /** Delivers bytes of a body, or keeps them until their user reads. */
  take(stream: ClientStream, bytes: Buffer): void {
    if (stream.isPaused || stream.held.length > 0) stream.hold(bytes)
    else this.#deliver(stream, bytes)
  }

  /** Delivers what was kept for a user that reads again. */
  release(stream: ClientStream): void {
    while (stream.held.length > 0 && !stream.isPaused && !stream.isOver)
      this.#deliver(stream, stream.held.shift()!)
    this.flush()
  }

  /** Lets the origin send more of a response, the more the longer its reader has kept up. */
  giveBack(stream: ClientStream, bytes: number): void {
    stream.consumed += bytes
    if (stream.consumed < stream.fullWindow >> 1 || stream.heldEnd !== null) return
    let more = stream.consumed
    const growth = Math.min(stream.fullWindow, widestWindow - stream.fullWindow)
    if (!stream.isPaused && growth > 0 && this.#growth + growth <= mostGrowth) {
      this.#growth += growth
      stream.fullWindow += growth
      more += growth
    }
    stream.consumed = 0
    stream.receiveWindow += more
    this.#output.windowUpdate(stream.id, more)
    this.#mayFlush()
  }

  /** Something of a response was delivered, and `flush` is to say when that is all for now. */
  touch(stream: ClientStream): void {
    if (stream.isTouched) return
    stream.isTouched = true
    this.#touched.push(stream)
  }

  /** Lets those who got something know that all that was read is delivered. */
  flush(): void {
    for (const stream of this.#touched.splice(0)) {
      stream.isTouched = false
      if (!stream.isOver) stream.user.flush()
    }
  }

  /** The origin may not know yet that a stream is over, and use up its window. */
  expectStrays(stream: ClientStream): void {
    this.#strays += Math.max(0, stream.receiveWindow)
  }

  /** Drops what is kept of a stream that is over. */
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
