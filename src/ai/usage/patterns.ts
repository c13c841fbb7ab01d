// Reads usage members of known forms from their bytes: parsing them costs several times as much.

import { levelOf } from './level.ts'
import { type Counts, countsIn, type Tokens, tokensIn, tokensOf, usageName } from './usage-member.ts'

const maxPatterns = 4

export class UsagePatterns {
  readonly #patterns: Pattern[] = []

  /** Of those that begin within `near` bytes of the end; null if its form is unknown, or it is nested. */
  lastIn(bytes: Buffer, near: number, isEventStream: boolean): Tokens | null {
    const at = lastUsage(bytes, near)
    if (at === -1) return null
    for (const pattern of this.#patterns) {
      const end = pattern.read(bytes, at)
      if (end !== -1) return levelOf(bytes, at, end, isEventStream) === 1 ? pattern.tokens() : null
    }
    return null
  }

  /** Remembers a form, if `lastIn` could have used it. */
  learn(member: string, bytes: Buffer, near: number): void {
    const pattern = patternOf(member)
    if (pattern === null || pattern.read(bytes, lastUsage(bytes, near)) === -1) return
    this.#patterns.unshift(pattern)
    if (this.#patterns.length > maxPatterns) this.#patterns.pop()
  }
}

/** Escapes, and numbers that are not whole. */
const odd = /\\|[-+.eE]\d|\d[.eE]/
/** Members that hold a price, or a list of counts of any length. */
const unlike = /"(?:cost|iterations)"/
/** Numbers that are values, and not in a name. */
const digits = /(?<=[:[,]\s*)\d+/g
/** Longer numbers may not be safe. */
const maxDigits = 15

/** Finds out which numbers are counts by replacing them with their positions. */
function patternOf(member: string): Pattern | null {
  if (odd.test(member) || unlike.test(member)) return null
  const tier = tokensIn(member.slice(member.indexOf('{')))?.tier ?? null
  let place = 0
  const numbered = member.replace(digits, () => `${place++}`)
  const counts = countsIn(numbered.slice(numbered.indexOf('{')))
  if (counts === null) return null
  const parts = member.split(digits).map(part => Buffer.from(part, 'latin1'))
  return new Pattern(parts, counts, tier)
}

type Places = readonly number[] | null

class Pattern {
  readonly #parts: readonly Buffer[]
  readonly #places: Counts
  readonly #tier: string | null
  readonly #numbers: number[]

  constructor(parts: readonly Buffer[], places: Counts, tier: string | null) {
    this.#parts = parts
    this.#places = places
    this.#tier = tier
    this.#numbers = parts.slice(1).map(() => 0)
  }

  /** Returns the end of the member; -1 if its form is another. */
  read(bytes: Buffer, start: number): number {
    const parts = this.#parts
    let at = behind(bytes, start, parts[0]!)
    for (let i = 1; i < parts.length; i++) {
      const end = endOfDigits(bytes, at)
      if (end === -1) return -1
      this.#numbers[i - 1] = numberIn(bytes, at, end)
      at = behind(bytes, end, parts[i]!)
    }
    return at
  }

  tokens(): Tokens {
    const places = this.#places
    const sums = {
      tokensIn: this.#sum(places.tokensIn),
      tokensOut: this.#sum(places.tokensOut),
      total: this.#sum(places.total),
      cacheRead: this.#sum(places.cacheRead),
      cacheWritten: this.#sum(places.cacheWritten),
      cacheWrittenLong: this.#sum(places.cacheWrittenLong),
      audioIn: this.#sum(places.audioIn),
      audioCached: this.#sum(places.audioCached),
      audioOut: this.#sum(places.audioOut),
      searches: this.#sum(places.searches),
    }
    return tokensOf(sums, null, this.#tier)
  }

  #sum(places: Places): number | null {
    if (places === null) return null
    let sum = 0
    for (const place of places) sum += this.#numbers[place]!
    return sum
  }
}

function lastUsage(bytes: Buffer, near: number): number {
  const from = Math.max(0, bytes.length - near)
  for (let at = bytes.length - name.length; at >= from; at--) {
    if (bytes[at] === quote && behind(bytes, at, name) !== -1) return at
  }
  return -1
}

function behind(bytes: Buffer, at: number, part: Buffer): number {
  if (at === -1 || at + part.length > bytes.length) return -1
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return -1
  return at + part.length
}

/** -1 without a number, or if it may not be safe or is not valid JSON. */
function endOfDigits(bytes: Buffer, start: number): number {
  if (start === -1) return -1
  let end = start
  while (end < bytes.length && isDigit(bytes[end]!)) end++
  const length = end - start
  const isUsual = length === 1 || (length > 1 && length <= maxDigits && bytes[start] !== zero)
  return isUsual ? end : -1
}

function numberIn(bytes: Buffer, start: number, end: number): number {
  let number = 0
  for (let at = start; at < end; at++) number = number * 10 + bytes[at]! - zero
  return number
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= zero + 9
}

const name = Buffer.from(usageName)
const quote = 0x22
const zero = 0x30
