// Whether a client takes its responses as fast as it must: a stream that waits for its window costs memory, and its origin a connection.

import type { Stream } from './stream.ts'

/** Ms that any client may be behind by the rate at which it must read, and most ms between two looks that count. */
const readGrace = 60_000
const longestLook = 1_500

export class ResponsePace {
  #since = 0
  #sentOfAll = 0
  #lookedAt: number

  /** Begins at monotonic ms `now`. */
  constructor(now: number) {
    this.#lookedAt = now
  }

  /** Begins a look at all streams at monotonic ms `now`, with the bytes that they have sent since the last one. */
  look(now: number, sentOfAll: number): void {
    this.#since = Math.min(now - this.#lookedAt, longestLook)
    this.#lookedAt = now
    this.#sentOfAll = sentOfAll
  }

  /** Whether a client is too slow by this rate in bytes a second, 0 for any, to allow what waits on a stream. One whose own window is open has to wait for those of all. */
  isTooSlow(stream: Stream<unknown>, rate: number): boolean {
    if (rate === 0) return false
    const sent = stream.sendWindow > 0 ? this.#sentOfAll : stream.sentSince
    stream.sentSince = 0
    if (stream.waiting === 0) {
      stream.waited = stream.earned = 0
      return false
    }
    stream.waited += this.#since
    stream.earned = Math.min(stream.earned + (sent * 1000) / rate, stream.waited)
    return stream.waited - stream.earned >= readGrace
  }
}
