// The state of an event stream that is needed to end it cleanly if its origin dies: whether it is between two
// events.

export class EventStream {
  /** Whether a content coding hides the text, so that nothing can be appended. */
  readonly isEncoded: boolean
  /**
   * The last bytes that were relayed: enough to contain a truncated field name and the blank line before it.
   */
  #end = ''

  constructor(isEncoded: boolean) {
    this.isEncoded = isEncoded
  }

  /** Records how the relayed bytes end. */
  note(bytes: Buffer): void {
    const end = bytes.toString('latin1', Math.max(bytes.length - endLength, 0))
    this.#end = end.length === endLength ? end : (this.#end + end).slice(-endLength)
  }

  /** Whether a comment may be sent now, which readers ignore: it must be a whole line. */
  get mayAddComment(): boolean {
    return !this.isEncoded && this.#end.endsWith('\n')
  }

  /**
   * Returns what must precede a last event. An event that was cut in the middle of a line needs its line
   * ended: it becomes part of the last event, and is never taken for a complete one. If only a piece of its
   * first field name arrived, that piece becomes an unknown field, and its event is ended too. Readers skip
   * it, and those that look for `data:` only at the start of an event, as Google's SDK does, find the last
   * event.
   */
  get opening(): string {
    if (pieceOfName.test(this.#end)) return '.\n\n'
    return this.#end === '' || /[\r\n]$/.test(this.#end) ? '' : '\n'
  }
}

/** A piece of a field name, alone in its event. */
const pieceOfName = /(?:^|\n\n|\r\r|\r\n\r\n)[a-z]{1,5}$/
/** One more than the longest piece with the line breaks before it, so that `^` is the start of the stream. */
const endLength = 10
