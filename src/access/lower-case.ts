// The User-Agent in lower case, which mostly is that of the request before: the same object for the same text lets patterns remember what they said of
// it.

import { ownText } from '../base/text/own-text.ts'

export class LowerCase {
  #last = ''

  /** Returns a text in lower case. */
  of(text: string): string {
    const lower = text.toLowerCase()
    // One that has no capitals is the text itself, which would hold the head of its request.
    if (lower !== this.#last) this.#last = lower === text ? ownText(lower) : lower
    return this.#last
  }
}
