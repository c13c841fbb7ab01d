// The end of an event stream, needed to finish it cleanly if its origin dies.

import { lf } from '../../http1/fields/characters.ts'

export class EventStream {
  /** Then nothing can be appended. */
  readonly isEncoded: boolean
  /** Enough for a truncated field name and the blank line before it. */
  #end = ''
  readonly #isNumbered: boolean
  /** The end of what was searched for numbers, where one may have begun. */
  #unread = ''
  /** The number of the next event; 0 in a stream without numbers. */
  sequence = 0

  constructor(isEncoded: boolean, isNumbered = false) {
    this.isEncoded = isEncoded
    this.#isNumbered = isNumbered
  }

  note(bytes: Buffer): void {
    // Most runs of bytes are whole events.
    if (bytes[bytes.length - 1] === lf && bytes[bytes.length - 2] === lf) this.#end = '\n\n'
    else this.#noteCut(bytes)
    if (this.#isNumbered) this.#findNumber(bytes)
  }

  #noteCut(bytes: Buffer): void {
    const end = bytes.toString('latin1', Math.max(bytes.length - endLength, 0))
    this.#end = end.length === endLength ? end : (this.#end + end).slice(-endLength)
  }

  /** In text, quotes are escaped. */
  #findNumber(bytes: Buffer): void {
    const text = this.#unread + bytes.toString('latin1')
    const at = text.lastIndexOf(numberName)
    const [, number] =
      (at === -1 ? null : /^\s*:\s*(\d{1,15})/.exec(text.slice(at + numberName.length, at + 60))) ?? []
    if (number !== undefined) this.sequence = Number(number) + 1
    this.#unread = text.slice(-60)
  }

  /** A comment must be a whole line. */
  get mayAddComment(): boolean {
    return !this.isEncoded && this.#end.endsWith('\n')
  }

  /**
   * What must precede a last event. A line that was cut becomes part of it, and is never taken for complete.
   * A cut first field name becomes an event of its own, since some readers (Google's SDK) look for `data:`
   * only at the start.
   */
  get opening(): string {
    if (pieceOfName.test(this.#end)) return '.\n\n'
    return this.#end === '' || /[\r\n]$/.test(this.#end) ? '' : '\n'
  }
}

const numberName = '"sequence_number"'
const pieceOfName = /(?:^|\n\n|\r\r|\r\n\r\n)[a-z]{1,5}$/
/** One more than the longest piece, so that `^` is the start of the stream. */
const endLength = 10
