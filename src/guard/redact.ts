// Puts marks in the place of matches.

import type { Match } from './scan.ts'

/** What stands for a match. */
export function markOf(name: string): string {
  return `[redacted:${name}]`
}

/** Redacts JSON, which stays JSON: a number becomes a string. */
export function redactJson(json: string, matches: readonly Match[]): string {
  const strings = new StringFinder(json)
  const marks = matches.map(({ name, start, end }) => {
    if (strings.isWithin(start)) return { start, end, text: markOf(name) }
    const isNegative = json.charCodeAt(start - 1) === minus
    return { start: isNegative ? start - 1 : start, end, text: JSON.stringify(markOf(name)) }
  })
  return replaced(json, marks)
}

interface Mark {
  readonly start: number
  readonly end: number
  readonly text: string
}

function replaced(text: string, marks: readonly Mark[]): string {
  let result = ''
  let at = 0
  for (const mark of marks) {
    result += text.slice(at, mark.start) + mark.text
    at = mark.end
  }
  return result + text.slice(at)
}

/** Whether places are within a string of JSON; asked for places in their order. */
class StringFinder {
  readonly #json: string
  #at = 0
  #isWithin = false

  constructor(json: string) {
    this.#json = json
  }

  isWithin(place: number): boolean {
    for (; this.#at < place; this.#at++) {
      const code = this.#json.charCodeAt(this.#at)
      if (code === quote) this.#isWithin = !this.#isWithin
      else if (code === backslash && this.#isWithin) this.#at++
    }
    return this.#isWithin
  }
}

const quote = 0x22
const minus = 0x2d
const backslash = 0x5c

/** Redacts a text that is no JSON. */
export function redactText(text: string, matches: readonly Match[]): string {
  return replaced(
    text,
    matches.map(({ name, start, end }) => ({ start, end, text: markOf(name) })),
  )
}

/** Removes the probabilities of tokens, which tell the text once more, from a response or an event. */
export function withoutLogprobs(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return
  const members = value as Record<string, unknown>
  for (const [name, member] of Object.entries(members))
    if (name === 'logprobs' || name === 'logprobsResult') members[name] = Array.isArray(member) ? [] : null
    else withoutLogprobs(member, depth + 1)
}

/** No response has them deeper. */
const maxDepth = 100
