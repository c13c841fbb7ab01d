// Regular expressions of conditions, in counted time linear in the text, without backtracking.

import { RE2JS } from '@bufbuild/re2'
import { Automaton } from './automaton.ts'
import { spend } from './meter.ts'
import { patternFlaw } from './pattern-size.ts'

const maxLength = 1024
const maxInstructions = 1000
// An instruction contains all its ranges, for \pL 700.
const maxRanges = 4000

export class Pattern {
  readonly #automaton: Automaton

  private constructor(automaton: Automaton) {
    this.#automaton = automaton
  }

  /** RE2 has neither look-around nor back-references. Returns a string for a flaw. */
  static compile(text: string): Pattern | string {
    if (text.length > maxLength) return `a pattern may have at most ${maxLength} characters`
    const flaw = patternFlaw(text, maxInstructions)
    if (flaw !== null) return flaw
    try {
      const { prog } = RE2JS.compile(text).re2()
      if (prog.numInst() > maxInstructions) return 'the pattern has too many repetitions'
      const ranges = prog.inst.reduce((sum, { runes }) => sum + runes.length / 2, 0)
      return ranges > maxRanges
        ? 'the pattern has too many Unicode classes'
        : new Pattern(new Automaton(prog))
    } catch {
      return 'the pattern is not a valid RE2 regular expression'
    }
  }

  /** Whether any part of a text matches; throws if the request has too few steps for it. */
  test(text: string): boolean {
    spend(Math.ceil(text.length / 6))
    return this.#automaton.test(text)
  }
}
