// The end of an event stream, needed to finish it cleanly if its origin dies.

export class EventStream {
  /** Then nothing can be appended. */
  readonly isEncoded: boolean
  /** The last bytes of `#noted` ones, of which the next one goes to `#noted % endLength`. */
  readonly #last = new Uint8Array(endLength)
  #noted = 0
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
    const last = this.#last
    let noted = this.#noted
    for (let i = Math.max(bytes.length - endLength, 0); i < bytes.length; i++)
      last[noted++ % endLength] = bytes[i]!
    this.#noted = noted
    if (this.#isNumbered) this.#findNumber(bytes)
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

  get #end(): string {
    const split = this.#noted % endLength
    const end = String.fromCharCode(...this.#last.subarray(split), ...this.#last.subarray(0, split))
    return this.#noted < endLength ? end.slice(endLength - this.#noted) : end
  }

  /**
   * What must precede a last event. A line that was cut becomes part of it, and is never taken for complete.
   * A cut first field name becomes an event of its own, since some readers (Google's SDK) look for `data:`
   * only at the start.
   */
  get opening(): string {
    const end = this.#end
    if (pieceOfName.test(end)) return '.\n\n'
    return end === '' || /[\r\n]$/.test(end) ? '' : '\n'
  }
}

const numberName = '"sequence_number"'
const pieceOfName = /(?:^|\n\n|\r\r|\r\n\r\n)[a-z]{1,5}$/
/** More than the longest piece with the blank line before it, so that `^` is the start of the stream. */
const endLength = 16
