// Regular expressions of operators' expressions, in time linear to the text: a backtracking engine could be held up by it. Called by expression-language.
import { RE2JS } from '@bufbuild/re2'

// What a match may cost: instructions of the pattern by characters of the text, some 15 ms at worst.
const steps = 500_000
const longestPattern = 1024
const mostInstructions = 1000
const longestText = 8192

/** Holds an RE2 pattern, compiled once. */
export class Pattern {
  readonly #regex: RE2JS
  readonly #longest: number

  private constructor(regex: RE2JS, instructions: number) {
    this.#regex = regex
    this.#longest = Math.min(longestText, Math.floor(steps / instructions))
  }

  /** Compiles RE2 syntax, which has neither look-around nor back-references; a string tells what is wrong with it. */
  static compile(text: string): Pattern | string {
    if (text.length > longestPattern) return `a pattern may have ${longestPattern} characters`
    try {
      const regex = RE2JS.compile(text)
      const instructions = regex.re2().prog.numInst()
      if (instructions > mostInstructions) return 'the pattern repeats too much'
      return new Pattern(regex, instructions)
    } catch {
      return 'the pattern is not a regular expression in the syntax of RE2'
    }
  }

  /** Whether any part of a text matches; null when the text is too long to tell. */
  test(text: string): boolean | null {
    return text.length > this.#longest ? null : this.#regex.test(text)
  }
}
