// Where the events of a stream have text, and which texts go on from event to event: of Chat Completions,
// Responses, Messages, Gemini, Cohere and Ollama.

import { isObject } from '../base/text/json.ts'

/** A text of an event, which can be replaced. */
interface EventText {
  readonly text: string
  /** The name of what goes on with it; null if it is whole. */
  readonly channel: string | null
  /** Of the member, or the place in its list. */
  readonly name: string | number
  set(text: string): void
}

/** Deeper values are no events of any API. */
const maxDepth = 100
/** No smaller number is that of a card. */
const minNumber = 1e11

export class EventTexts {
  readonly texts: EventText[] = []
  /** Of members, which cannot be replaced. */
  readonly names: string[] = []
  /** Beginnings of the names of channels that are over; '' for all. */
  readonly closed: string[] = []
  isTooDeep = false
  readonly #withWhole: boolean

  /** Texts that are whole are left out unless they are of interest. */
  constructor(event: unknown, withWhole: boolean) {
    this.#withWhole = withWhole
    if (isObject(event)) {
      this.#readEvent(event)
      this.#findClosed(event)
    } else this.#readWhole(event, { event }, 'event', 0)
  }

  #readEvent(event: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(event)) {
      this.#noteName(name)
      if (name === 'choices' && Array.isArray(value)) this.#readItems(value, this.#readChoice)
      else if (name === 'candidates' && Array.isArray(value)) this.#readItems(value, this.#readCandidate)
      else if (isDelta(event, name))
        this.#readDelta(value, event, name, `${placeOf(event)}${name}/${event.type}/`, 1)
      else this.#readWhole(value, event, name, 1)
    }
  }

  #readItems(
    items: readonly unknown[],
    read: (item: Readonly<Record<string, unknown>>, place: string) => void,
  ) {
    for (const [i, item] of items.entries())
      if (isObject(item)) read(item, `/${itemName(item, i)}/`)
      else this.#readWhole(item, items, i, 2)
  }

  readonly #readChoice = (choice: Readonly<Record<string, unknown>>, place: string): void => {
    for (const [name, value] of Object.entries(choice)) {
      this.#noteName(name)
      if (name === 'delta' || name === 'text') this.#readDelta(value, choice, name, `${place}${name}/`, 3)
      else this.#readWhole(value, choice, name, 3)
    }
  }

  readonly #readCandidate = (candidate: Readonly<Record<string, unknown>>, place: string): void => {
    const { content, ...others } = candidate
    for (const [name, value] of Object.entries(others)) {
      this.#noteName(name)
      this.#readWhole(value, candidate, name, 3)
    }
    if (!isObject(content) || !Array.isArray(content.parts))
      return this.#readWhole(content, candidate, 'content', 3)
    for (const [i, part] of content.parts.entries()) {
      if (!isObject(part) || typeof part.text !== 'string') {
        this.#readWhole(part, content.parts, i, 5)
        continue
      }
      const { text, ...beside } = part
      this.#readDelta(text, part, 'text', `${place}${part.thought === true ? 'thought' : 'text'}/`, 6)
      for (const [name, value] of Object.entries(beside)) this.#readWhole(value, part, name, 6)
    }
  }

  /** What is within a delta goes on in the next one, but for members that tell what it is. */
  #readDelta(value: unknown, parent: object, name: string | number, channel: string, depth: number): void {
    if (typeof value === 'string') return this.#note(value, channel, parent, name)
    if (typeof value !== 'object' || value === null) return this.#readWhole(value, parent, name, depth)
    if (depth > maxDepth) {
      this.isTooDeep = true
      return
    }
    for (const [key, child] of Object.entries(value)) {
      if (Array.isArray(value))
        this.#readDelta(child, value, Number(key), `${channel}${itemName(child, key)}/`, depth + 1)
      else if (wholeMembers.has(key)) this.#readWhole(child, value, key, depth + 1)
      else {
        this.#noteName(key)
        this.#readDelta(child, value, key, `${channel}${key}/`, depth + 1)
      }
    }
  }

  #readWhole(value: unknown, parent: object, name: string | number, depth: number): void {
    if (typeof value === 'string' && this.#withWhole) this.#note(value, null, parent, name)
    if (
      typeof value === 'number' &&
      this.#withWhole &&
      Number.isSafeInteger(value) &&
      Math.abs(value) >= minNumber
    )
      this.#note(String(Math.abs(value)), null, parent, name)
    // They repeat the text of a delta, and go with it.
    if (typeof value !== 'object' || value === null || probabilities.has(name)) return
    if (depth > maxDepth) {
      this.isTooDeep = true
      return
    }
    if (!this.#withWhole) return
    for (const [key, child] of Object.entries(value)) {
      if (!Array.isArray(value)) this.#noteName(key)
      this.#readWhole(child, value, key, depth + 1)
    }
  }

  #noteName(name: string): void {
    if (this.#withWhole) this.names.push(name)
  }

  #note(text: string, channel: string | null, parent: object, name: string | number): void {
    const set = (text: string) => {
      const place = parent as Record<string | number, unknown>
      place[name] = text
    }
    this.texts.push({ text, channel, name, set })
  }

  #findClosed(event: Readonly<Record<string, unknown>>): void {
    const { type, choices, candidates } = event
    if (typeof type === 'string' && ending.test(type)) this.closed.push(placeOf(event))
    if (event.done === true) this.closed.push('')
    this.#findFinished(choices, 'finish_reason')
    this.#findFinished(candidates, 'finishReason')
  }

  #findFinished(items: unknown, reason: string): void {
    if (!Array.isArray(items)) return
    for (const [i, item] of items.entries())
      if (isObject(item) && (item[reason] ?? null) !== null) this.closed.push(`/${itemName(item, i)}/`)
  }
}

const ending = /(?:^|[-._])(?:stop|end|done|completed|incomplete|failed)$/

/** Where the delta of an event goes on; '' for an event about all of the response. */
function placeOf(event: Readonly<Record<string, unknown>>): string {
  const place = places.map(name => event[name]).filter(value => value !== undefined)
  return place.length === 0 ? '' : `/${place.map(String).join('/')}/`
}

const places = ['item_id', 'output_index', 'index', 'content_index', 'summary_index']

/** Elements go on under their `index`, wherever they are. */
function itemName(item: unknown, position: string | number): string {
  return String(isObject(item) && typeof item.index === 'number' ? item.index : position)
}

/** Audio is in base64, which is not decoded. */
function isDelta(event: Readonly<Record<string, unknown>>, name: string): boolean {
  const { type, done } = event
  if (name === 'delta') return !(typeof type === 'string' && type.endsWith('audio.delta'))
  return name === 'completion' || (typeof done === 'boolean' && (name === 'message' || name === 'response'))
}

const probabilities: ReadonlySet<string | number> = new Set(['logprobs', 'logprobsResult'])

/** Members of deltas that come at once. */
const wholeMembers: ReadonlySet<string> = new Set([
  ...['type', 'role', 'id', 'name', 'index', 'signature', 'format', 'data', 'encrypted_content'],
  ...['finish_reason', 'stop_reason', 'stop_sequence'],
])
