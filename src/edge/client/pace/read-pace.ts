// Whether a client reads fast enough, in the time in which something waits for it. Only sweeps check.

import type { Socket } from 'node:net'

/** Ms that a client may fall behind the rate: the least, and the most. */
const grace = 60_000
const maxGrace = 300_000
/** The largest send buffer on Linux, and the fraction that must be free before it takes more. */
const systemBuffer = 4 * 1024 * 1024
const freeFraction = 1 / 3

/** Ms between two checks that count at most: more means that the process stalled. */
const maxElapsed = 1_000

export class ReadPace {
  readonly #socket: Socket
  #checkedAt: number
  #completed: number
  #partial = 0
  #queued: number
  #waited = 0
  #credit = 0

  constructor(socket: Socket, now: number) {
    this.#socket = socket
    this.#checkedAt = now
    this.#completed = completedBytes(socket)
    this.#queued = queuedBytes(socket)
  }

  /** To be called while something waits for the client. */
  isSlow(rate: number, now: number): boolean {
    this.#waited += Math.min(now - this.#checkedAt, maxElapsed)
    this.#checkedAt = now
    this.#credit = Math.min(this.#credit + (this.#countTaken() * 1000) / rate, this.#waited)
    return this.#waited - this.#credit >= this.#grace(rate)
  }

  /** Ms for which the system, whose buffer is full, may take nothing from a client that reads at the rate. */
  #grace(rate: number): number {
    const step = Math.min(completedBytes(this.#socket), systemBuffer) * freeFraction
    return Math.min(Math.max((step * 1000) / rate, grace), maxGrace)
  }

  #countTaken(): number {
    const completed = completedBytes(this.#socket) - this.#completed
    const queued = queuedBytes(this.#socket)
    const partial = Math.max(0, this.#queued - queued)
    this.#queued = queued
    if (completed === 0) {
      this.#partial += partial
      return partial
    }
    const bytes = Math.max(0, completed - this.#partial)
    this.#completed += completed
    this.#partial = 0
    return bytes
  }
}

function completedBytes(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength
}

/** Node's internals; a TLS socket has its transport as its parent. */
interface SocketInternals {
  readonly _parent?: SocketInternals | null
  readonly _handle?: { readonly writeQueueSize?: number } | null
}

/** Of libuv or TLS: Node reports only complete writes, which may take minutes. */
function queuedBytes(socket: Socket): number {
  const internals = socket as SocketInternals
  return (internals._parent ?? internals)._handle?.writeQueueSize ?? 0
}
