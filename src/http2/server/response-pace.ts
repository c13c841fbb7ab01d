// Whether a client takes its responses as fast as it must: a stream that waits for its window costs memory, and its origin a connection.

import type { Stream } from './stream.ts'

/** Ms that any client may be behind by the rate at which it must read, and most ms between two looks that count. */
const readGrace = 60_000
const longestLook = 1_500

export class ResponsePace {
  #since = 0
  #sentOfAll = 0
  #lookedAt: number
  #isOverdrawn = false

  /** Begins at monotonic ms `now`. */
  constructor(now: number) {
    this.#lookedAt = now
  }

  /** Begins a look at all streams at monotonic ms `now`, with the bytes that they have sent since the last one; a client that is overdrawn must have taken some of each. */
  look(now: number, sentOfAll: number, isOverdrawn: boolean): void {
    this.#isOverdrawn = isOverdrawn
    this.#since = Math.min(now - this.#lookedAt, longestLook)
    this.#lookedAt = now
    this.#sentOfAll = sentOfAll
  }

  /** Names why a client is too slow to allow what waits on a stream, by this rate in bytes a second, 0 for any; null where it is not. One whose own window is open has to wait for those of all. */
  faultOf(stream: Stream<unknown>, rate: number): 'slow' | 'overdrawn' | null {
    const sent = stream.sendWindow > 0 ? this.#sentOfAll : stream.sentSince
    stream.sentSince = 0
    if (stream.waiting === 0) {
      stream.waited = stream.earned = 0
      return null
    }
    if (this.#isOverdrawn && sent === 0 && stream.waited > 0) return 'overdrawn'
    stream.waited += this.#since
    if (rate === 0) return null
    stream.earned = Math.min(stream.earned + (sent * 1000) / rate, stream.waited)
    return stream.waited - stream.earned >= readGrace ? 'slow' : null
  }
}
