// How much memory the responses take that are on their way to callers or to the store, all together.

/** Bytes. */
const usualMax = 256 * 1024 * 1024

export class AnswerRoom {
  /** In use. */
  bytes = 0
  readonly #max: number

  constructor(max = usualMax) {
    this.#max = max
  }

  /** Whether responses are sent on without being kept. */
  get isFull(): boolean {
    return this.bytes >= this.#max
  }

  /** Whether no call may begin whose response has to be kept: those under way may need the rest. */
  get isTight(): boolean {
    return this.bytes >= this.#max / 2
  }
}
