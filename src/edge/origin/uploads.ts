// Limits requests whose bodies are still to come, for as long as their clients like: they may use only a
// share of an origin's connections.

import { type ConnectionRequest, ConnectionQueue } from './connection-queue.ts'

/**
 * The limit for uploads of pausing clients, in connections, if the origin has no maximum: it has limits of
 * its own.
 */
const maxPausingConnections = 100

export class Uploads {
  readonly #max: number
  readonly #maxPausing: number
  readonly #admitted = new Set<ConnectionRequest>()
  readonly #queue = new ConnectionQueue()

  /** `connections` is the maximum for the origin, and `each` the number of requests per connection. */
  constructor(connections: number, perConnection: number) {
    this.#max = Math.floor((connections * perConnection) / 2)
    this.#maxPausing = Math.min(this.#max, maxPausingConnections * perConnection)
  }

  /** The number of requests that wait to be admitted. */
  get waiting(): number {
    return this.#queue.size
  }

  /** Whether one more would be admitted at once. */
  get hasRoom(): boolean {
    return this.#admitted.size < Math.max(1, this.#max)
  }

  /** The same for an upload whose client pauses, and may wait for a response to what it has sent. */
  get hasRoomForPause(): boolean {
    return this.#admitted.size < this.#maxPausing
  }

  admit(request: ConnectionRequest): void {
    this.#admitted.add(request)
  }

  /** Queues a request at monotonic ms `now`. */
  enqueue(request: ConnectionRequest, now: number): void {
    this.#queue.add(request, now, { fresh: false })
  }

  /**
   * Removes an upload that is complete or abandoned; admits and returns the next one in its place, null for
   * none.
   */
  leave(request: ConnectionRequest): ConnectionRequest | null {
    this.#queue.remove(request)
    if (!this.#admitted.delete(request) || this.#queue.size === 0) return null
    const { first } = this.#queue
    this.#queue.remove(first)
    this.#admitted.add(first)
    return first
  }

  /** Refuses requests queued since that time or longer. */
  expire(by: number): void {
    this.#queue.expire(by, 0)
  }
}
