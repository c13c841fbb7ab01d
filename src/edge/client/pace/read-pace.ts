// Whether a client takes fast enough what it is sent. Only the time counts in which something waits for it, so that a stream that has nothing to say may stand
// still; the client connection asks at each of its sweeps.

import type { Socket } from 'node:net'

/** Ms that any client may be behind by the rate, and the most that one may be. */
const grace = 60_000
const longestGrace = 300_000
/** The most bytes that the system buffers for a connection, as Linux has it, and the share of them that must be free until it takes more. */
const systemBuffer = 4 * 1024 * 1024
const shareOfBuffer = 1 / 3

/** Most ms between two looks that count: what is more was a stall of our own. */
const longestLook = 1_000

export class ReadPace {
  readonly #socket: Socket
  #lookedAt: number
  /** Bytes of writes that the system has taken whole, and what it has taken of the next one. */
  #whole: number
  #part = 0
  /** Bytes that the system has not taken of the write that is under way. */
  #queued: number
  /** Ms of waiting, and those that the bytes so far are good for. */
  #waited = 0
  #earned = 0

  constructor(socket: Socket, now: number) {
    this.#socket = socket
    this.#lookedAt = now
    this.#whole = wholeOf(socket)
    this.#queued = queuedAt(socket)
  }

  /** Whether the client is too slow by monotonic ms `now` for so many bytes a second; to be called while something waits for it. */
  isSlow(rate: number, now: number): boolean {
    this.#waited += Math.min(now - this.#lookedAt, longestLook)
    this.#lookedAt = now
    this.#earned = Math.min(this.#earned + (this.#taken() * 1000) / rate, this.#waited)
    return this.#waited - this.#earned >= this.#grace(rate)
  }

  /** Returns for how long the system may take nothing although the client reads at the rate: it buffers no more than it was ever given. */
  #grace(rate: number): number {
    const step = Math.min(wholeOf(this.#socket), systemBuffer) * shareOfBuffer
    return Math.min(Math.max((step * 1000) / rate, grace), longestGrace)
  }

  /** Counts the bytes that the system has taken since the last look. */
  #taken(): number {
    const whole = wholeOf(this.#socket) - this.#whole
    const queued = queuedAt(this.#socket)
    const part = Math.max(0, this.#queued - queued)
    this.#queued = queued
    if (whole === 0) {
      this.#part += part
      return part
    }
    const taken = Math.max(0, whole - this.#part)
    this.#whole += whole
    this.#part = 0
    return taken
  }
}

function wholeOf(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength
}

/** A socket as Node keeps it; one that was secured has its transport below it. */
interface Inner {
  readonly _parent?: Inner | null
  readonly _handle?: { readonly writeQueueSize?: number } | null
}

/** Returns what libuv still has of a write: Node reports only writes that are complete, and one of 64 KiB may take minutes. TLS does the same above its transport. */
function queuedAt(socket: Socket): number {
  const inner = socket as Inner
  return (inner._parent ?? inner)._handle?.writeQueueSize ?? 0
}
