// A whole response that is a list of events, or has one in each line.

import type { EventReader } from '../../guard/guarded-events.ts'
import { parse } from './parse.ts'
import type { BodyForm } from './response-form.ts'

/** Null for any other response. */
export function eventsOf(text: string, form: BodyForm): EventList | null {
  if (form === 'lines') return EventList.ofLines(text)
  // Gemini streams a list of what are events elsewhere.
  return form === 'json' ? EventList.ofJson(text) : null
}

export class EventList {
  isChanged = false
  readonly #separator: ',' | '\n'
  readonly #events: readonly { value: unknown }[]

  private constructor(values: readonly unknown[], separator: ',' | '\n') {
    this.#events = values.map(value => ({ value }))
    this.#separator = separator
  }

  /** What is no JSON stays a text. */
  static ofLines(text: string): EventList {
    return new EventList(text.split('\n').map(parse), '\n')
  }

  /** Null if it is no list. */
  static ofJson(text: string): EventList | null {
    const values = /^\s*\[/.test(text) ? parse(text) : null
    return Array.isArray(values) ? new EventList(values, ',') : null
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
    const written = this.#events.map(({ value }) =>
      typeof value === 'string' ? value : JSON.stringify(value),
    )
    return this.#separator === ',' ? `[${written.join(',')}]` : written.join('\n')
  }
}
