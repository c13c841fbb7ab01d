// Regular expressions of operators' expressions, in time linear to the text and counted: a backtracking engine could be held up by it.

import { RE2JS } from '@bufbuild/re2'
import { Automaton, mostSteps } from './automaton.ts'
import { patternFlaw } from './pattern-size.ts'
import { Work } from './work-budget.ts'

const longestPattern = 1024
const mostInstructions = 1000
// An instruction holds all that it stands for, of \pL 700 ranges.
const mostRanges = 4000

/** What the expression that runs may do, and the ranges of characters that one that is compiled may still have. */
let work = new Work()
let isSpent = false
let rangesLeft = mostRanges
let open = 0

/** Has the patterns of an evaluation take their steps from these. */
export function useWork(left: Work): void {
  work = left
  isSpent = false
}

/** Whether a pattern of this evaluation had no steps left to find what it was asked. */
export function isWorkSpent(): boolean {
  return isSpent
}

/** Allows the patterns of one expression their ranges of characters, which they share. */
export function renewRanges(): void {
  rangesLeft = mostRanges
  open = 0
}

/** Counts the patterns compiled since, whose automata were too large to be built at once: texts go on building them. */
export function openPatterns(): number {
  return open
}

/** Holds an RE2 pattern, compiled once, with the automaton that texts have built so far. */
export class Pattern {
  readonly #automaton: Automaton

  private constructor(automaton: Automaton) {
    this.#automaton = automaton
  }

  /** Compiles RE2 syntax, which has neither look-around nor back-references; a string tells what is wrong with it. */
  static compile(text: string): Pattern | string {
    if (text.length > longestPattern) return `a pattern may have at most ${longestPattern} characters`
    const flaw = patternFlaw(text, mostInstructions)
    if (flaw !== null) return flaw
    try {
      const { prog } = RE2JS.compile(text).re2()
      if (prog.numInst() > mostInstructions) return 'the pattern has too many repetitions'
      for (const { runes } of prog.inst) rangesLeft -= runes.length / 2
      if (rangesLeft < 0) return 'its patterns together are too large'
      const automaton = new Automaton(prog)
      if (automaton.widest > mostSteps) return 'the pattern has too many repetitions'
      if (!automaton.isWhole) open++
      return new Pattern(automaton)
    } catch {
      return 'the pattern is not a valid RE2 regular expression'
    }
  }

  /** Whether any part of a text matches; no more is known of that once `isWorkSpent`. */
  test(text: string): boolean {
    const isMatch = isSpent ? null : this.#automaton.test(text, work)
    if (isMatch === null) isSpent = true
    return isMatch === true
  }
}
