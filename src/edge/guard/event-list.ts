// A whole response that is a list of events, or has one in each line.

import type { EventReader } from '../../guard/guarded-events.ts'
import { parse } from './parse.ts'
import type { BodyForm } from './response-form.ts'

/** Null for any other response. */
export function eventsOf(text: string, form: BodyForm): EventList | null {
  // Readers may leave out a byte order mark (RFC 8259 section 8.1).
  const json = text.replace(/^\ufeff/, '')
  if (form === 'lines') return EventList.ofLines(json)
  // Gemini streams a list of what are events elsewhere.
  return form === 'json' ? EventList.ofJson(json) : null
}

interface ListedEvent {
  value: unknown
  /** A line may be any other text. */
  readonly isJson: boolean
}

export class EventList {
  isChanged = false
  readonly #separator: ',' | '\n'
  readonly #events: readonly ListedEvent[]

  private constructor(events: readonly ListedEvent[], separator: ',' | '\n') {
    this.#events = events
    this.#separator = separator
  }

  /** What is no JSON stays a text. */
  static ofLines(text: string): EventList {
    const eventOf = (line: string) => {
      const value = parse(line)
      return { value, isJson: value !== line }
    }
    return new EventList(text.split('\n').map(eventOf), '\n')
  }

  /** Null if it is no list. */
  static ofJson(text: string): EventList | null {
    const values = /^\s*\[/.test(text) ? parse(text) : null
    if (!Array.isArray(values)) return null
    return new EventList(
      values.map((value: unknown) => ({ value, isJson: true })),
      ',',
    )
  }

  read(reader: EventReader): void {
    for (const event of this.#events) {
      // Others are replaced where they are.
      const read = typeof event.value === 'object' ? event.value : event
      reader.push(read, JSON.stringify(event.value) ?? '', isChanged => {
        this.isChanged ||= isChanged
        return ''
      })
    }
    reader.end()
  }

  /** Returns the events as they are now. */
  write(): string {
    const written = this.#events.map(({ value, isJson }) => (isJson ? JSON.stringify(value) : value))
    return this.#separator === ',' ? `[${written.join(',')}]` : written.join('\n')
  }
}
