// The state of one stream: what has come of its request and is not asked for, what waits of its response, and the windows of both ways.

const leastHeld = 1024
/** The share of its memory that a piece of a response must take up to wait as it is; a smaller one is copied. */
const leastShare = 1 / 8

/** Its first fields are for whoever serves it, the others for the session. */
export class Stream<Owner> {
  readonly id: number
  /** Whoever serves the request, which only it reads and sets. */
  owner: Owner | null = null
  /** Whether all of the request has come, of which some may wait to be asked for. */
  isRequestWhole: boolean
  /** Whether the client asked for a tunnel by an extended CONNECT (RFC 8441), whose head is that of a WebSocket handshake over HTTP/1. */
  isTunnel = false
  /** Whether it brought the key of that handshake itself. */
  hasKey = false
  /** Whether it has ended, by both sides or by a reset: whatever is done with it then does nothing. */
  isClosed = false
  /** Bytes of the response that wait for the client to allow them, or for the output to be taken. */
  waiting = 0
  /** Bytes that the client may still send, and those that were read and not given back yet. */
  receiveWindow: number
  toGiveBack = 0
  /** Bytes of the body that must come, -1 where nothing says. */
  bodyLeft = -1
  isBodyWanted = false
  /** Whether the end of the body was handed over. */
  isBodyOver = false
  requestTrailers: readonly string[] | null = null
  /** Whether the final head of the response was written. */
  hasResponded = false
  /** Whether the response is complete, some of which may wait. */
  isResponseOver = false
  responseTrailers: string | null = null
  sendWindow: number
  /** Whether it stands in the list of those that may send. */
  isReady = false
  /** Monotonic ms until which a client may go on with a request whose response it has, for nothing; 0 for a stream that does not linger. */
  lingersUntil = 0
  /** Whether its owner was told to wait. */
  isStalled = false
  /** Ms in which something waited, and those that the bytes which the client has allowed are good for. */
  waited = 0
  earned = 0
  /** Bytes of the response that were sent since the last look at it. */
  sentSince = 0
  readonly #queue: Buffer[] = []
  /** The offset in the first of the queue. */
  #queueAt = 0
  #held: Buffer | null = null
  #heldLength = 0

  constructor(id: number, isRequestWhole: boolean, receiveWindow: number, sendWindow: number) {
    this.id = id
    this.isRequestWhole = this.isBodyOver = isRequestWhole
    this.receiveWindow = receiveWindow
    this.sendWindow = sendWindow
  }

  /** Keeps bytes of the body until they are asked for: copied, since many small ones would keep as many large packets. */
  hold(bytes: Buffer, at: number, end: number): void {
    const length = this.#heldLength + end - at
    if (this.#held === null || this.#held.length < length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(2 * length, leastHeld))
      this.#held?.copy(grown, 0, 0, this.#heldLength)
      this.#held = grown
    }
    bytes.copy(this.#held, this.#heldLength, at, end)
    this.#heldLength = length
  }

  /** Returns what was held; null for nothing. */
  takeHeld(): Buffer | null {
    const held = this.#held?.subarray(0, this.#heldLength) ?? null
    this.#held = null
    this.#heldLength = 0
    return held
  }

  /** Has bytes of the response wait. */
  queue(bytes: Buffer): void {
    const isSmall = bytes.length < bytes.buffer.byteLength * leastShare
    this.#queue.push(isSmall ? Buffer.from(bytes) : bytes)
    this.waiting += bytes.length
  }

  /** The bytes that wait first, from `firstAt` on. */
  get first(): Buffer {
    return this.#queue[0]!
  }

  get firstAt(): number {
    return this.#queueAt
  }

  /** Takes so many of the first bytes away, no more than the first piece has. */
  taken(length: number): void {
    this.waiting -= length
    this.#queueAt += length
    if (this.#queueAt < this.#queue[0]!.length) return
    this.#queue.shift()
    this.#queueAt = 0
  }

  /** Drops what waits, either way. */
  close(): void {
    this.isClosed = true
    this.#queue.length = 0
    this.waiting = 0
    this.#held = null
  }
}
