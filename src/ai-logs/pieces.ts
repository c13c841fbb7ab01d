// Streams bring a text in pieces: a credential that a model repeats is whole in none of them.

import { holdsOurs } from '../tokens/misplaced-tokens.ts'
import { mask, redactedPieces } from '../tokens/redaction.ts'

/** A string of an event, and where it is. */
interface Piece {
  readonly text: string
  readonly line: number
  readonly holder: Record<string, unknown>
  readonly key: string
}

/** The strings that events have in one place, and the places below it. */
class Place {
  readonly pieces: Piece[] = []
  readonly #below = new Map<string, Place>()

  at(key: string): Place {
    let place = this.#below.get(key)
    if (place === undefined) this.#below.set(key, (place = new Place()))
    return place
  }

  get all(): readonly Place[] {
    return [this, ...[...this.#below.values()].flatMap(place => place.all)]
  }
}

/** Removes our credentials from a stream of events or lines of JSON; returns the same bytes without. */
export function withoutPieces(bytes: Buffer): Buffer {
  const lines = bytes.toString('utf8').split('\n')
  const root = new Place()
  const events = lines.map((line, i) => {
    const event = eventIn(line)
    if (event !== null) collect(event, i, root, deepest)
    return event
  })
  const changed = new Set<number>()
  for (const { pieces } of root.all) redactPieces(pieces, changed)
  if (changed.size === 0) return bytes
  const safe = lines.map((line, i) => (changed.has(i) ? `${startOf(line)}${written(events[i])}` : line))
  return Buffer.from(safe.join('\n'))
}

/** The maximum nesting that is searched; the text of no stream is as deep. */
const deepest = 16

function startOf(line: string): string {
  return line.slice(0, line.indexOf('{'))
}

function eventIn(line: string): Record<string, unknown> | null {
  const start = line.indexOf('{')
  if (start === -1) return null
  try {
    return JSON.parse(line.slice(start))
  } catch {
    return null
  }
}

/** What is nested too deeply can be read, but not be written again. */
function written(event: unknown): string {
  try {
    return JSON.stringify(event)
  } catch {
    return JSON.stringify(mask)
  }
}

function collect(holder: Record<string, unknown>, line: number, at: Place, depth: number): void {
  const place = apart(holder, at)
  for (const key in holder) {
    const value = holder[key]
    if (typeof value === 'string') place.at(key).pieces.push({ text: value, line, holder, key })
    else if (typeof value === 'object' && value !== null && depth > 0)
      collect(value as Record<string, unknown>, line, place.at(key), depth - 1)
  }
}

/** Identifies one of several texts that come in turns: choices, tool calls, parts of content. */
function apart({ index, output_index, content_index }: Record<string, unknown>, at: Place): Place {
  if (index === undefined && output_index === undefined) return at
  return at.at(`${index} ${output_index} ${content_index}`)
}

function redactPieces(pieces: readonly Piece[], changed: Set<number>): void {
  if (pieces.length < 2) return
  const texts = pieces.map(({ text }) => text)
  if (!holdsOurs(texts.join(''))) return
  redactedPieces(texts).forEach((text, i) => {
    const { holder, key, line, text: before } = pieces[i]!
    if (text === before) return
    holder[key] = text
    changed.add(line)
  })
}
