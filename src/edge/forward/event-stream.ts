// What must be known of an event stream to end it honestly when its origin dies: whether it stands between two events.

import { cr, lf } from '../../http1/characters.ts'

export class EventStream {
  /** Whether a content coding hides the text, so that nothing can be added to it. */
  readonly isEncoded: boolean
  /** The last byte of what was relayed; -1 before the first. */
  #last = -1

  constructor(isEncoded: boolean) {
    this.isEncoded = isEncoded
  }

  /** Remembers how what was relayed ends. */
  note(bytes: Buffer): void {
    if (bytes.length > 0) this.#last = bytes[bytes.length - 1]!
  }

  /** Whether a comment may be sent now, which readers ignore: only a whole line can be one. */
  get mayAddComment(): boolean {
    return !this.isEncoded && this.#last === lf
  }

  /**
   * Returns what has to stand before a last event. An event that was cut in the middle of a line only needs its line ended: it then becomes part of the
   * last event, and is never taken for a whole one.
   */
  get opening(): string {
    return this.#last === -1 || this.#last === lf || this.#last === cr ? '' : '\n'
  }
}
