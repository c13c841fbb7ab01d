// Finds matches in a text that comes in pieces.

import { fold } from './folded-text.ts'
import type { Match, PatternSet } from './scan.ts'

/** Characters before a match that decide whether it is one. */
const contextLength = 2
/** UTF-16 units that may wait for what follows: each piece reads them again, so more is decided as it is. */
const maxPending = 64 * 1024

export class TextScanner {
  /** No match begins before, but for those that were reported; in UTF-16 units of all of the text. */
  settled = 0
  readonly #patterns: PatternSet
  #context = ''
  #pending = ''

  constructor(patterns: PatternSet) {
    this.#patterns = patterns
  }

  /** Returns the matches that are certain now. */
  push(piece: string): readonly Match[] {
    this.#pending += piece
    const open = this.#find(false)
    const isTooLong = this.#pending.length - open.end > maxPending
    const { matches, end, context } = isTooLong ? this.#find(true) : open
    this.#pending = this.#pending.slice(end)
    this.#context = context
    this.settled += end
    return matches
  }

  /** Returns the matches that there are if the text ends with this piece; it may still go on. */
  end(piece = ''): readonly Match[] {
    this.#pending += piece
    return this.#find(true).matches
  }

  #find(isFinal: boolean) {
    const folded = fold(this.#pending, isFinal)
    const before = this.#context.length
    const all = this.#context + folded.text
    const { matches, settled } = this.#patterns.scan(all, before, isFinal)
    const placeOf = (at: number) => (folded.places === null ? at - before : folded.places[at - before]!)
    return {
      matches: matches.map(({ name, start, end }) => ({
        name,
        start: this.settled + placeOf(start),
        end: this.settled + placeOf(end),
      })),
      end: settled === all.length ? folded.end : placeOf(settled),
      context: all.slice(Math.max(0, settled - contextLength), settled),
    }
  }
}

const none: readonly Match[] = []

/** Returns the matches of a whole text. */
export function matchesIn(text: string, patterns: PatternSet): readonly Match[] {
  return patterns.mayMatch(text) ? new TextScanner(patterns).end(text) : none
}
