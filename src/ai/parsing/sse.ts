// Parses an event stream as it arrives (WHATWG HTML, section 9.2).

import { StringDecoder } from 'node:string_decoder'

/** `event` is '' for an event without a name. */
type OnEvent = (event: string, data: string) => void

/** Characters of one event or line; a stream with a larger one is not read any further. */
const largestEvent = 16 * 1024 * 1024

export class SseReader {
  readonly #decoder = new StringDecoder('utf8')
  #line = ''
  #event = ''
  #data = ''
  #isAtStart = true
  /** A line feed that comes next belongs to the previous line end. */
  #isAfterReturn = false
  isOverfull = false

  push(bytes: Buffer, onEvent: OnEvent): void {
    this.#take(this.#decoder.write(bytes), onEvent)
  }

  /** Reports the last, unterminated event: some providers omit the final blank line. */
  end(onEvent: OnEvent): void {
    this.#take(`${this.#decoder.end()}\n\n`, onEvent)
  }

  #take(text: string, onEvent: OnEvent): void {
    if (text === '' || this.isOverfull) return
    let from = this.#skip(text)
    for (let i = from; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code !== lf && code !== cr) continue
      this.#endLine(this.#line + text.slice(from, i), onEvent)
      this.#line = ''
      if (code === cr && text.charCodeAt(i + 1) === lf) i++
      from = i + 1
    }
    this.#isAfterReturn = text.charCodeAt(text.length - 1) === cr
    this.#line += text.slice(from)
    this.isOverfull = this.#line.length + this.#data.length > largestEvent
  }

  /** Bytes that belong to no line: a byte order mark, the second half of a CRLF. */
  #skip(text: string): number {
    const isMark = this.#isAtStart && text.charCodeAt(0) === byteOrderMark
    this.#isAtStart = false
    return isMark || (this.#isAfterReturn && text.charCodeAt(0) === lf) ? 1 : 0
  }

  #endLine(line: string, onEvent: OnEvent): void {
    if (line === '') return this.#endEvent(onEvent)
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    if (field === 'data') this.#data += `${fieldValue(line, colon)}\n`
    else if (field === 'event') this.#event = fieldValue(line, colon)
  }

  #endEvent(onEvent: OnEvent): void {
    const event = this.#event
    const data = this.#data
    this.#event = ''
    this.#data = ''
    if (data !== '') onEvent(event, data.slice(0, -1))
  }
}

function fieldValue(line: string, colon: number): string {
  if (colon === -1) return ''
  return line.slice(line.charCodeAt(colon + 1) === space ? colon + 2 : colon + 1)
}

const lf = 0x0a
const cr = 0x0d
const space = 0x20
const byteOrderMark = 0xfeff
