// Requests whose bodies are still to come, and which last as long as their clients like: they may hold only a share of the connections of an origin, and
// others find the rest.

import { type ConnectionRequest, ConnectionQueue } from './connection-queue.ts'

/** The most connections' worth of those that may begin for a pause of their client, where the origin may have any number of connections: it knows limits of its own. */
const mostOfPauses = 100

export class Uploads {
  readonly #most: number
  readonly #mostPauses: number
  readonly #admitted = new Set<ConnectionRequest>()
  readonly #waiting = new ConnectionQueue()

  /** `connections` is the most that the origin may have, each of which carries so many requests. */
  constructor(connections: number, each: number) {
    this.#most = Math.floor((connections * each) / 2)
    this.#mostPauses = Math.min(this.#most, mostOfPauses * each)
  }

  /** Counts those who wait to be admitted. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Whether one more would be admitted at once. */
  get hasRoom(): boolean {
    return this.#admitted.size < Math.max(1, this.#most)
  }

  /** The same for one whose client pauses, and may wait for a response to what it has sent. */
  get hasRoomForPause(): boolean {
    return this.#admitted.size < this.#mostPauses
  }

  admit(request: ConnectionRequest): void {
    this.#admitted.add(request)
  }

  /** Lets one wait from monotonic ms `now` on. */
  wait(request: ConnectionRequest, now: number): void {
    this.#waiting.add(request, now, { fresh: false })
  }

  /** Removes one that was admitted or waits, whose body is there or that has left; admits and returns the next one in its place, null for none. */
  leave(request: ConnectionRequest): ConnectionRequest | null {
    this.#waiting.remove(request)
    if (!this.#admitted.delete(request) || this.#waiting.size === 0) return null
    const { first } = this.#waiting
    this.#waiting.remove(first)
    this.#admitted.add(first)
    return first
  }

  /** Refuses those who have waited since that time or longer. */
  expire(by: number): void {
    this.#waiting.expire(by, 0)
  }
}
