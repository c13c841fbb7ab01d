// What recognizes something secret at a position of a text that may still go on.

/** The text may still become a match: what follows decides. */
export const undecided = -1
/** Nothing that follows makes it a match. */
export const noMatch = 0

/**
 * Where runs of characters end that were read in a text, by what they are of: one in which matches can begin
 * thousands of times is read once.
 */
export type Runs = Map<object, number>

export interface Pattern {
  readonly name: string
  /** What it finds, for people. */
  readonly title: string
  /** Texts of at most `maxBeginning` characters with which matches begin, as a regular expression. */
  readonly beginning: string
  /** The characters with which they begin. */
  readonly first: string
  /**
   * Returns the end of the match that begins at `at`, `noMatch`, or, unless `isFinal`, `undecided`. What is
   * decided stays so, whatever text follows. With the same `runs`, `at` must not become less.
   */
  endOf(text: string, at: number, isFinal: boolean, runs: Runs): number
}

export const maxBeginning = 16

/** Returns a regular expression for what `isBoundary` allows; looking back at the end is the fastest. */
export function behindNoWord(source: string): string {
  return `${source}(?<!${wordBefore}${source})`
}

/** As for texts whose escapes are not resolved: the letter before may be that of a line end. */
export function behindEscapes(source: string): string {
  return source.replaceAll(`(?<!${wordBefore}`, '(?<![\\dA-Zac-eg-mo-qsu-z_]')
}

const wordBefore = '[\\w]'

/** Whether a key can begin behind this position: within a word it is part of something else. */
export function isBoundary(text: string, at: number): boolean {
  return at === 0 || !isWord(text.charCodeAt(at - 1))
}

/** Of `A-Z a-z 0-9 _`. */
export function isWord(code: number): boolean {
  return isDigit(code) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}
