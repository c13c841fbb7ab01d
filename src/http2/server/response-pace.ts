// A client must read its responses: a waiting stream costs memory, and a connection to its origin.

import type { Stream } from './stream.ts'

/** Ms that a client may fall behind its required rate, and the max ms between two sweeps that count. */
const readGrace = 60_000
const maxInterval = 1_500

export class ResponsePace {
  #since = 0
  #sentOfAll = 0
  #lookedAt: number
  #isOverdrawn = false

  constructor(now: number) {
    this.#lookedAt = now
  }

  /** `sentOfAll`: by all streams since the last sweep; each must have sent something if `isOverdrawn`. */
  look(now: number, sentOfAll: number, isOverdrawn: boolean): void {
    this.#isOverdrawn = isOverdrawn
    this.#since = Math.min(now - this.#lookedAt, maxInterval)
    this.#lookedAt = now
    this.#sentOfAll = sentOfAll
  }

  /** Returns why a client is too slow for a stream, or null; `rate` is in bytes a second, 0 for any. */
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
