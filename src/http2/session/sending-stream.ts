// The half of a stream that we send: what waits of its body, and the window for it.

/** A smaller share of its memory than this is copied to wait, so that it does not keep the rest alive. */
const minShare = 1 / 8

export class SendingStream {
  readonly id: number
  /** Bytes that the peer allows us to send. */
  sendWindow: number
  /** Bytes of the body that wait for a window, or for the output to be taken. */
  waiting = 0
  /** Whether the body was written to its end, some of which may wait, and the lines of its trailers. */
  isWritten = false
  trailers: string | null = null
  /** Whether our half is closed (RFC 9113 section 5.1): everything was sent, or the stream was reset. */
  isClosed = false
  /** Whether it is in the list of streams that can send. */
  isReady = false
  /** Whether its writer waits for `drained`. */
  isStalled = false
  /** Bytes of the body that were sent since the last sweep. */
  sentSince = 0
  readonly #queue: Buffer[] = []
  /** The offset in the first buffer of the queue. */
  #queueAt = 0

  constructor(id: number, sendWindow: number) {
    this.id = id
    this.sendWindow = sendWindow
  }

  /** The first buffer that waits, of which the bytes from `firstAt` on are left. */
  get first(): Buffer {
    return this.#queue[0]!
  }

  get firstAt(): number {
    return this.#queueAt
  }

  /** Adds bytes of the body to those that wait. */
  queue(bytes: Buffer): void {
    const isSmall = bytes.length < bytes.buffer.byteLength * minShare
    this.#queue.push(isSmall ? Buffer.from(bytes) : bytes)
    this.waiting += bytes.length
  }

  /** Removes the first bytes that wait, at most the rest of the first buffer. */
  unqueue(length: number): void {
    this.waiting -= length
    this.#queueAt += length
    if (this.#queueAt < this.#queue[0]!.length) return
    this.#queue.shift()
    this.#queueAt = 0
  }

  /** Closes our half; what waits is dropped. */
  close(): void {
    this.isClosed = true
    this.#queue.length = 0
    this.waiting = 0
  }
}
