// How recent streams have ended, which decides what may still arrive for them (RFC 9113 section 5.1).

const capacity = 256

/** `reset_by_us`: what was on its way must be accepted. */
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

  /** Null if the stream never existed, or ended long ago. */
  endOf(id: number): StreamEnd | null {
    const at = this.#ids.indexOf(id)
    return at === -1 ? null : this.#ends[at]!
  }
}
