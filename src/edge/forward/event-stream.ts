// What must be known of an event stream to end it honestly when its origin dies: whether it stands between two events.

export class EventStream {
  /** Whether a content coding hides the text, so that nothing can be added to it. */
  readonly isEncoded: boolean
  #tail = ''

  constructor(isEncoded: boolean) {
    this.isEncoded = isEncoded
  }

  /** Remembers the last bytes of what was relayed. */
  note(bytes: Buffer): void {
    const tail = bytes.toString('latin1', Math.max(0, bytes.length - 2))
    this.#tail = tail.length === 2 ? tail : (this.#tail + tail).slice(-2)
  }

  /** Whether a comment may be sent now, which readers ignore: only a whole line can be one. */
  get mayAddComment(): boolean {
    return !this.isEncoded && this.#tail.endsWith('\n')
  }

  /**
   * Returns what has to stand before a last event. An event that was cut in the middle of a line only needs its line ended: it then becomes part of the
   * last event, and is never taken for a whole one.
   */
  get opening(): string {
    return this.#tail === '' || this.#tail.endsWith('\n') || this.#tail.endsWith('\r') ? '' : '\n'
  }
}
