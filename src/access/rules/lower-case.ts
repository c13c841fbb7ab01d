// Lower-cases the User-Agent, which mostly equals that of the previous request: returning the same string object lets patterns reuse their last
// result.

import { ownText } from '../../base/text/own-text.ts'

export class LowerCase {
  #last = ''

  /** Returns a text in lower case. */
  of(text: string): string {
    const lower = text.toLowerCase()
    // A text without capitals is returned as it is, and would keep the head of its request alive.
    if (lower !== this.#last) this.#last = lower === text ? ownText(lower) : lower
    return this.#last
  }
}
