// Whether a client reads what it is sent fast enough. Only time in which something waits for it counts, so
// that idle streams may stay open. The connection checks at each of its sweeps.

import type { Socket } from 'node:net'

/** Ms that a client may fall behind the rate: the least for any client, and the most. */
const grace = 60_000
const longestGrace = 300_000
/**
 * The largest send buffer of a connection on Linux, and the fraction of it that must be free before the
 * system takes more.
 */
const systemBuffer = 4 * 1024 * 1024
const shareOfBuffer = 1 / 3

/** Ms that count at most between two checks: more means that the process stalled. */
const longestLook = 1_000

export class ReadPace {
  readonly #socket: Socket
  #lookedAt: number
  /** Bytes of complete writes that the system has taken, and those of the next write. */
  #whole: number
  #part = 0
  /** Bytes of the pending write that the system has not taken. */
  #queued: number
  /** Ms of waiting, and those paid for by the bytes so far. */
  #waited = 0
  #earned = 0

  constructor(socket: Socket, now: number) {
    this.#socket = socket
    this.#lookedAt = now
    this.#whole = wholeOf(socket)
    this.#queued = queuedAt(socket)
  }

  /**
   * Whether the client reads fewer than `rate` bytes a second at monotonic ms `now`; to be called while
   * something waits for it.
   */
  isSlow(rate: number, now: number): boolean {
    this.#waited += Math.min(now - this.#lookedAt, longestLook)
    this.#lookedAt = now
    this.#earned = Math.min(this.#earned + (this.#taken() * 1000) / rate, this.#waited)
    return this.#waited - this.#earned >= this.#grace(rate)
  }

  /**
   * Returns how long the system may take nothing although the client reads at the rate: it buffers no more
   * than it was ever given.
   */
  #grace(rate: number): number {
    const step = Math.min(wholeOf(this.#socket), systemBuffer) * shareOfBuffer
    return Math.min(Math.max((step * 1000) / rate, grace), longestGrace)
  }

  /** Counts the bytes taken by the system since the last check. */
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

/** Node's internals of a socket; a TLS socket has its transport as its parent. */
interface Inner {
  readonly _parent?: Inner | null
  readonly _handle?: { readonly writeQueueSize?: number } | null
}

/**
 * Returns the bytes of a write that libuv still holds: Node reports only complete writes, and one of 64 KiB
 * may take minutes. TLS does the same above its transport.
 */
function queuedAt(socket: Socket): number {
  const inner = socket as Inner
  return (inner._parent ?? inner)._handle?.writeQueueSize ?? 0
}
