// Finds what patterns match in a text, whole or in pieces: what it finds does not depend on the pieces.

import { behindEscapes, maxBeginning, noMatch, type Pattern, type Runs, undecided } from './pattern.ts'

export interface Match {
  readonly name: string
  readonly start: number
  readonly end: number
}

interface Scan {
  /** In order, without overlaps: the first one counts, and of several at one place the longest. */
  readonly matches: readonly Match[]
  /** Nothing that follows can make a match that begins before. */
  readonly settled: number
}

export class PatternSet {
  /** Where some pattern may begin. */
  readonly #beginnings: RegExp
  /** Of digits and of others: both in one take several times as long. */
  readonly #signs: readonly RegExp[]
  /** By the first character of what they match. */
  readonly #byFirst: readonly (readonly Pattern[])[]

  constructor(patterns: readonly Pattern[]) {
    this.#beginnings = new RegExp(sourceOf(patterns), 'g')
    const [numbers, others] = [true, false].map(areNumbers =>
      patterns.filter(({ first }) => digits.test(first) === areNumbers),
    )
    this.#signs = [numbers!, others!].map(patterns => new RegExp(behindEscapes(sourceOf(patterns))))
    this.#byFirst = Array.from({ length: 0x80 }, (_, code) =>
      patterns.filter(({ first }) => first.includes(String.fromCharCode(code))),
    )
  }

  /** Whether a text, in any escapes, may have a match. */
  mayMatch(text: string): boolean {
    return this.#signs.some(sign => sign.test(text)) || escaped.test(text)
  }

  /** Finds the matches that begin at `from` or later in a folded text, which may go on unless `isFinal`. */
  scan(text: string, from: number, isFinal: boolean): Scan {
    const matches: Match[] = []
    const runs: Runs = new Map()
    let at = from
    while (at < text.length) {
      this.#beginnings.lastIndex = at
      const start = this.#beginnings.exec(text)?.index ?? text.length
      if (start === text.length) break
      const match = this.#matchAt(text, start, isFinal, runs)
      if (match === 'undecided') return { matches, settled: start }
      if (match !== null) matches.push(match)
      at = match === null ? start + 1 : match.end
    }
    return { matches, settled: isFinal ? text.length : this.#openAt(text, at, runs) }
  }

  #matchAt(text: string, start: number, isFinal: boolean, runs: Runs): Match | 'undecided' | null {
    let longest: Match | null = null
    for (const { name, endOf } of this.#byFirst[text.charCodeAt(start)] ?? none) {
      const end = endOf(text, start, isFinal, runs)
      if (end === undecided) return 'undecided'
      if (end !== noMatch && (longest === null || end > longest.end)) longest = { name, start, end }
    }
    return longest
  }

  /** Where a match may begin of which the end of the text has only a piece. */
  #openAt(text: string, from: number, runs: Runs): number {
    for (let at = Math.max(from, text.length - maxBeginning); at < text.length; at++) {
      const patterns = this.#byFirst[text.charCodeAt(at)] ?? none
      for (const { endOf } of patterns) if (endOf(text, at, false, runs) === undecided) return at
    }
    return text.length
  }
}

const none: readonly Pattern[] = []
const digits = /^\d+$/
const escaped = /\\u|[^\x00-\x7f]/

function sourceOf(patterns: readonly Pattern[]): string {
  return patterns.length === 0 ? '(?!)' : patterns.map(({ beginning }) => beginning).join('|')
}
