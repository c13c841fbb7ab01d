// Lower-cases the User-Agent: patterns reuse their last result for the same string object.

import { ownText } from '../../base/text/own-text.ts'

export class LowerCase {
  #last = ''

  of(text: string): string {
    const lower = text.toLowerCase()
    // A text without capitals is returned as is, and would keep the head of its request alive.
    if (lower !== this.#last) this.#last = lower === text ? ownText(lower) : lower
    return this.#last
  }
}
