// How the streams that closed last have ended, which decides what may still arrive for them (RFC 9113 section
// 5.1). Older ones are forgotten.

const capacity = 256

/**
 * Whether both sides have ended a stream in order, the client has reset it, or we have, and must accept what
 * was on its way.
 */
export type StreamEnd = 'ended' | 'reset' | 'reset_by_us'

export class ClosedStreams {
  readonly #ids = new Int32Array(capacity)
  readonly #ends: StreamEnd[] = []
  #next = 0

  add(id: number, end: StreamEnd): void {
    this.#ids[this.#next] = id
    this.#ends[this.#next] = end
    this.#next = (this.#next + 1) % capacity
  }

  /** Returns how a stream has ended; null if it never existed, or ended long ago. */
  endOf(id: number): StreamEnd | null {
    const at = this.#ids.indexOf(id)
    return at === -1 ? null : this.#ends[at]!
  }
}
