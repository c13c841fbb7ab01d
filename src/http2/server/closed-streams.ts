// How the streams that closed last have ended: what may still come for one depends on it (RFC 9113 section 5.1). Older ones are forgotten.

const most = 256

/** Who has ended a stream: both sides in order, the client by a reset, or we by one, who must bear what was on its way. */
export type StreamEnd = 'ended' | 'reset' | 'reset_by_us'

export class ClosedStreams {
  readonly #ids = new Int32Array(most)
  readonly #ends: StreamEnd[] = []
  #next = 0

  add(id: number, end: StreamEnd): void {
    this.#ids[this.#next] = id
    this.#ends[this.#next] = end
    this.#next = (this.#next + 1) % most
  }

  /** Returns how a stream has ended; null where it never was, or long ago. */
  endOf(id: number): StreamEnd | null {
    const at = this.#ids.indexOf(id)
    return at === -1 ? null : this.#ends[at]!
  }
}
