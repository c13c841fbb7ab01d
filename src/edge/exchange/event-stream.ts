// What must be known of an event stream to end it honestly when its origin dies: whether it stands between two events.

export class EventStream {
  /** Whether a content coding hides the text, so that nothing can be added to it. */
  readonly isEncoded: boolean
  /** How what was relayed ends: as many bytes as show a name of a field that was cut, and a blank line before it. */
  #end = ''

  constructor(isEncoded: boolean) {
    this.isEncoded = isEncoded
  }

  /** Remembers how what was relayed ends. */
  note(bytes: Buffer): void {
    const end = bytes.toString('latin1', Math.max(bytes.length - endLength, 0))
    this.#end = end.length === endLength ? end : (this.#end + end).slice(-endLength)
  }

  /** Whether a comment may be sent now, which readers ignore: only a whole line can be one. */
  get mayAddComment(): boolean {
    return !this.isEncoded && this.#end.endsWith('\n')
  }

  /**
   * Returns what has to stand before a last event. An event that was cut in the middle of a line only needs its line ended: it then becomes part of the
   * last event, and is never taken for a whole one. Where no more came of it than a piece of the name of its first field, it becomes the name of no field,
   * and is ended too: readers pass over it, and those that look for `data:` only where an event starts, as the SDK of Google does, find the last event.
   */
  get opening(): string {
    if (pieceOfName.test(this.#end)) return '.\n\n'
    return this.#end === '' || /[\r\n]$/.test(this.#end) ? '' : '\n'
  }
}

/** Such a piece, alone in its event. */
const pieceOfName = /(?:^|\n\n|\r\r|\r\n\r\n)[a-z]{1,5}$/
/** One more than the longest piece with what stands before it, so that `^` is the start of the stream. */
const endLength = 10
