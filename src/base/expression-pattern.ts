// Regular expressions of operators' expressions, in time linear to the text: a backtracking engine could be held up by it. Called by expression and -language.
import { RE2JS } from '@bufbuild/re2'
import type { Facts } from './expression-facts.ts'
import { patternFlaw } from './expression-pattern-size.ts'

// A step is an instruction of a pattern at a character of a text, of some 150 ns where the automaton is yet to be built.
const mostSteps = 250_000
// Rules come in lists, of which each has some expressions.
const mostStepsOfRequest = 8 * mostSteps
const longestPattern = 1024
const mostInstructions = 1000
// An instruction holds all that it stands for, of \pL 700 ranges.
const mostRanges = 4000
// The automaton has room for more states than such a text can add; beyond it the engine takes quadratic time.
/** The most characters of a text that a pattern looks at. */
export const longestText = 8192
const keptStates = 256

let stepsLeft = mostSteps
let stepsOfRequest = mostStepsOfRequest
let lastFacts: Facts | null = null
let rangesLeft = mostRanges

/** Allows the patterns of one evaluation their steps, which they share, and those of all evaluations of the same facts. */
export function renewSteps(facts: Facts): void {
  stepsLeft = mostSteps
  if (facts === lastFacts) return
  lastFacts = facts
  stepsOfRequest = mostStepsOfRequest
}

/** Allows the patterns of one expression their ranges of characters, which they share. */
export function renewRanges(): void {
  rangesLeft = mostRanges
}

/** Holds an RE2 pattern, compiled once, with the automaton that texts have built so far. */
export class Pattern {
  readonly #text: string
  readonly #instructions: number
  #regex: RE2JS

  private constructor(text: string, regex: RE2JS, instructions: number) {
    this.#text = text
    this.#regex = regex
    this.#instructions = instructions
  }

  /** Compiles RE2 syntax, which has neither look-around nor back-references; a string tells what is wrong with it. */
  static compile(text: string): Pattern | string {
    if (text.length > longestPattern) return `a pattern may have ${longestPattern} characters`
    const flaw = patternFlaw(text, mostInstructions)
    if (flaw !== null) return flaw
    try {
      const regex = RE2JS.compile(text)
      const { prog } = regex.re2()
      const instructions = prog.numInst()
      if (instructions > mostInstructions) return 'the pattern repeats too much'
      for (const { runes } of prog.inst) rangesLeft -= runes.length / 2
      if (rangesLeft < 0) return 'its patterns are too large together'
      return new Pattern(text, regex, instructions)
    } catch {
      return 'the pattern is not a regular expression in the syntax of RE2'
    }
  }

  /** Whether any part of a text matches; null when it could take more steps than are left. */
  test(text: string): boolean | null {
    const { length } = text
    if (
      stepsLeft <= 0 ||
      stepsOfRequest <= 0 ||
      length > longestText ||
      length * this.#instructions > mostSteps
    )
      return null
    const { dfa } = this.#regex.re2()
    const states = dfa.stateCount
    const isMatch = this.#regex.test(text)
    const steps = 4 * length + (dfa.stateCount - states) * this.#instructions
    stepsLeft -= steps
    stepsOfRequest -= steps
    // What texts make it build stays in memory otherwise.
    if (dfa.stateCount > keptStates) this.#regex = RE2JS.compile(this.#text)
    return isMatch
  }
}
