// Hands the events of a stream on its way to the client to their reader, one by one.

import type { EventReader, Stop } from '../../guard/guarded-events.ts'
import { CompleteEvents, eventsIn } from '../ai-call/complete-events.ts'

/** Bytes of an event, far more than any has. */
const maxEvent = 16 * 1024 * 1024

export class GuardedStream {
  readonly holdsHead = false
  readonly #events: EventReader
  readonly #complete: CompleteEvents
  #isAtStart = true
  #isEnding = false

  constructor(events: EventReader) {
    this.#events = events
    this.#complete = new CompleteEvents(maxEvent, bytes => bytesOf(this.#take(bytes)))
  }

  get stop(): Stop | null {
    return this.#events.stop
  }

  get hasRedacted(): boolean {
    return this.#events.hasRedacted
  }

  push(bytes: Buffer): Buffer | null {
    return this.#events.stop === null ? this.#complete.push(bytes) : null
  }

  end(): Buffer | null {
    this.#isEnding = true
    const last = this.#complete.end()
    const rest = bytesOf(this.#events.end())
    return last === null || rest === null ? (last ?? rest) : Buffer.concat([last, rest])
  }

  #take(bytes: Buffer): string {
    let text = ''
    for (const event of eventsIn(bytes)) {
      const isCut = !this.#isEnding && !ending.test(event.toString('latin1', Math.max(0, event.length - 4)))
      text += isCut ? this.#events.passUnread(event.toString()) : this.#takeEvent(event.toString())
    }
    return text
  }

  #takeEvent(text: string): string {
    // A byte order mark belongs to no line (WHATWG HTML, section 9.2.5).
    const lines = (this.#isAtStart ? text.replace(/^\ufeff/, '') : text).split(lineEnd)
    this.#isAtStart = false
    const isData = (line: string) => dataField.test(line)
    const others = lines.filter(line => line !== '' && !isData(line))
    for (const line of others) this.#events.inspect(line)
    const data = lines.filter(isData).map(line => line.replace(dataField, ''))
    if (data.length === 0) return this.#events.pass(text, false)
    const json = data.join('\n')
    if (json.trim() === '[DONE]') return this.#events.pass(text, true)
    const value = parse(json)
    // What is no JSON goes on from event to event as it is.
    const opaque = { type: 'opaque', delta: json }
    const event = value ?? opaque
    const write = (isChanged: boolean) => {
      if (!isChanged) return text
      const data = value === null ? opaque.delta : JSON.stringify(value)
      const [blank] = blankLines.exec(text)!
      return `${blank}${[...others, ...data.split('\n').map(line => `data: ${line}`)].join('\n')}\n\n`
    }
    return this.#events.push(event, json, write)
  }
}

const lineEnd = /\r\n|\n|\r/
// A blank line may also come alone, after the one that ended the event before it.
const ending = /(?:^|\n)\r?\n$|(?:^|[\r\n])\r$/
const blankLines = /^[\r\n]*/
const dataField = /^data(?:: ?|$)/

/** Null for what is no object or list. */
function parse(json: string): object | null {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

function bytesOf(text: string): Buffer | null {
  return text === '' ? null : Buffer.from(text)
}
