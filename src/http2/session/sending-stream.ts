// The half of a stream that we send.

/** A smaller share of its memory than this is copied to wait, so that it does not keep the rest alive. */
const minShare = 1 / 8

export class SendingStream {
  readonly id: number
  sendWindow: number
  /** Bytes of the body that wait for a window, or for the output to be taken. */
  waiting = 0
  /** Whether the whole body was written, some of which may wait, and the lines of its trailers. */
  isWritten = false
  trailers: string | null = null
  /** RFC 9113 section 5.1: everything was sent, or the stream was reset. */
  isClosed = false
  isReady = false
  isStalled = false
  sentSince = 0
  readonly #queue: Buffer[] = []
  #queueAt = 0

  constructor(id: number, sendWindow: number) {
    this.id = id
    this.sendWindow = sendWindow
  }

  get first(): Buffer {
    return this.#queue[0]!
  }

  get firstAt(): number {
    return this.#queueAt
  }

  queue(bytes: Buffer): void {
    const isSmall = bytes.length < bytes.buffer.byteLength * minShare
    this.#queue.push(isSmall ? Buffer.from(bytes) : bytes)
    this.waiting += bytes.length
  }

  unqueue(length: number): void {
    this.waiting -= length
    this.#queueAt += length
    if (this.#queueAt < this.#queue[0]!.length) return
    this.#queue.shift()
    this.#queueAt = 0
  }

  close(): void {
    this.isClosed = true
    this.#queue.length = 0
    this.waiting = 0
  }
}
