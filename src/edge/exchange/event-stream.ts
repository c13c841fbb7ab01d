// The end of an event stream, which is needed to finish it cleanly if its origin dies.

export class EventStream {
  /** Whether a content coding hides the text, so that nothing can be appended. */
  readonly isEncoded: boolean
  /** The last relayed bytes: enough for a truncated field name and the blank line before it. */
  #end = ''

  constructor(isEncoded: boolean) {
    this.isEncoded = isEncoded
  }

  note(bytes: Buffer): void {
    const end = bytes.toString('latin1', Math.max(bytes.length - endLength, 0))
    this.#end = end.length === endLength ? end : (this.#end + end).slice(-endLength)
  }

  /** Whether a comment, which readers ignore, may be sent now: it must be a whole line. */
  get mayAddComment(): boolean {
    return !this.isEncoded && this.#end.endsWith('\n')
  }

  /**
   * Returns what must precede a last event. A line that was cut must end, and becomes part of the last event,
   * so that it is never taken for a complete one. A piece of a first field name becomes an unknown field in
   * an event of its own, since some readers (Google's SDK) look for `data:` only at the start of an event.
   */
  get opening(): string {
    if (pieceOfName.test(this.#end)) return '.\n\n'
    return this.#end === '' || /[\r\n]$/.test(this.#end) ? '' : '\n'
  }
}

const pieceOfName = /(?:^|\n\n|\r\r|\r\n\r\n)[a-z]{1,5}$/
/** One more than the longest piece with the line breaks before it, so that `^` is the start of the stream. */
const endLength = 10
