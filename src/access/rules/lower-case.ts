// Lower-cases the User-Agent: the same string object for repeated ones lets patterns reuse their last result.

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
