// Whether a client reads what it is sent fast enough. Only time in which something waits for it counts, so
// that idle streams may stay open. The connection checks at each of its sweeps.

import type { Socket } from 'node:net'

/** Ms that a client may fall behind the rate: the least for any client, and the most. */
const grace = 60_000
const maxGrace = 300_000
/**
 * The largest send buffer of a connection on Linux, and the fraction of it that must be free before the
 * system takes more.
 */
const systemBuffer = 4 * 1024 * 1024
const freeFraction = 1 / 3

/** Ms that count at most between two checks: more means that the process stalled. */
const maxElapsed = 1_000

export class ReadPace {
  readonly #socket: Socket
  #checkedAt: number
  /** Bytes of complete writes that the system has taken, and those of the next write. */
  #completed: number
  #partial = 0
  /** Bytes of the pending write that the system has not taken. */
  #queued: number
  /** Ms of waiting, and those paid for by the bytes so far. */
  #waited = 0
  #credit = 0

  constructor(socket: Socket, now: number) {
    this.#socket = socket
    this.#checkedAt = now
    this.#completed = completedBytes(socket)
    this.#queued = queuedBytes(socket)
  }

  /**
   * Whether the client reads fewer than `rate` bytes a second at monotonic ms `now`; to be called while
   * something waits for it.
   */
  isSlow(rate: number, now: number): boolean {
    this.#waited += Math.min(now - this.#checkedAt, maxElapsed)
    this.#checkedAt = now
    this.#credit = Math.min(this.#credit + (this.#countTaken() * 1000) / rate, this.#waited)
    return this.#waited - this.#credit >= this.#grace(rate)
  }

  /**
   * Returns how long the system may take nothing although the client reads at the rate: it buffers no more
   * than it was ever given.
   */
  #grace(rate: number): number {
    const step = Math.min(completedBytes(this.#socket), systemBuffer) * freeFraction
    return Math.min(Math.max((step * 1000) / rate, grace), maxGrace)
  }

  /** Counts the bytes taken by the system since the last check. */
  #countTaken(): number {
    const completed = completedBytes(this.#socket) - this.#completed
    const queued = queuedBytes(this.#socket)
    const partial = Math.max(0, this.#queued - queued)
    this.#queued = queued
    if (completed === 0) {
      this.#partial += partial
      return partial
    }
    const taken = Math.max(0, completed - this.#partial)
    this.#completed += completed
    this.#partial = 0
    return taken
  }
}

function completedBytes(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength
}

/** Node's internals of a socket; a TLS socket has its transport as its parent. */
interface SocketInternals {
  readonly _parent?: SocketInternals | null
  readonly _handle?: { readonly writeQueueSize?: number } | null
}

/**
 * Returns the bytes of a write that libuv still holds: Node reports only complete writes, and one of 64 KiB
 * may take minutes. TLS does the same above its transport.
 */
function queuedBytes(socket: Socket): number {
  const internals = socket as SocketInternals
  return (internals._parent ?? internals)._handle?.writeQueueSize ?? 0
}
