// Limits requests whose bodies are still to come to a share of an origin's connections.

import { type ConnectionRequest, ConnectionQueue } from './connection-queue.ts'

/** For uploads of pausing clients, if the origin has no maximum. */
const maxPausingConnections = 100

export class Uploads {
  readonly #max: number
  readonly #maxPausing: number
  readonly #admitted = new Set<ConnectionRequest>()
  readonly #queue = new ConnectionQueue()

  constructor(connections: number, perConnection: number) {
    this.#max = Math.floor((connections * perConnection) / 2)
    this.#maxPausing = Math.min(this.#max, maxPausingConnections * perConnection)
  }

  get waiting(): number {
    return this.#queue.size
  }

  get hasRoom(): boolean {
    return this.#admitted.size < Math.max(1, this.#max)
  }

  /** Its client may wait for a response to what it has sent. */
  get hasRoomForPause(): boolean {
    return this.#admitted.size < this.#maxPausing
  }

  admit(request: ConnectionRequest): void {
    this.#admitted.add(request)
  }

  enqueue(request: ConnectionRequest, now: number): void {
    this.#queue.add(request, now, { fresh: false })
  }

  /** Admits and returns the next one. */
  leave(request: ConnectionRequest): ConnectionRequest | null {
    this.#queue.remove(request)
    if (!this.#admitted.delete(request) || this.#queue.size === 0) return null
    const { first } = this.#queue
    this.#queue.remove(first)
    this.#admitted.add(first)
    return first
  }

  expire(by: number): void {
    this.#queue.expire(by, 0)
  }
}
