// One text of a stream, which goes on from event to event.

import type { Match, PatternSet } from './scan.ts'
import { TextScanner } from './text-scanner.ts'

export class Channel {
  /** In UTF-16 units: all that came, and what was given to the client. */
  length = 0
  released = 0
  readonly #scanner: TextScanner
  /** Up to where it was said to be over; it may go on all the same. */
  #closedAt = 0
  /** Reported at that time, so that they may be found again. */
  readonly #early = new Set<number>()
  /** To be redacted, in order. */
  #redactions: Match[] = []

  constructor(patterns: PatternSet) {
    this.#scanner = new TextScanner(patterns)
  }

  /** No undecided match begins before. */
  get safe(): number {
    return Math.max(this.#closedAt, this.#scanner.settled)
  }

  push(text: string): readonly Match[] {
    this.length += text.length
    return this.#scanner.push(text).filter(({ start }) => !this.#early.has(start))
  }

  close(): readonly Match[] {
    if (this.safe === this.length) return none
    this.#closedAt = this.length
    const matches = this.#scanner.end().filter(({ start }) => !this.#early.has(start))
    for (const { start } of matches) this.#early.add(start)
    return matches
  }

  /** False if a part of the match was given to the client already. */
  redact(match: Match): boolean {
    if (match.start < this.released) return false
    this.#redactions.push(match)
    return true
  }

  /** Passes the next piece on to the client; each mark is in the piece where its match begins. */
  release(text: string, markOf: (name: string) => string): string {
    const start = this.released
    const end = start + text.length
    this.released = end
    let safe = ''
    let at = start
    for (const { name, start: from, end: to } of this.#redactions) {
      if (from >= end) break
      if (from >= start) safe += text.slice(at - start, from - start) + markOf(name)
      at = Math.min(to, end)
    }
    this.#redactions = this.#redactions.filter(match => match.end > end)
    return safe + text.slice(at - start)
  }
}

const none: readonly Match[] = []
