// The rules of a policy that are worth asking: a client that was here just before need not be compared again with all that only look at who it is.

import type { CompiledRule } from './rules.ts'
import type { Visit } from './visit.ts'

/** Fewer rules of the kind cost less than to remember what they said. */
const worthwhile = 4

export class Shortlist {
  readonly #all: readonly CompiledRule[]
  readonly #isWorthwhile: boolean
  readonly #asksUserAgent: boolean
  /** The client that came last. */
  #reading = -1
  #userAgent = ''
  /** What is left for it; null until it comes a second time. */
  #rules: readonly CompiledRule[] | null = null

  constructor(rules: readonly CompiledRule[]) {
    this.#all = rules
    this.#isWorthwhile = rules.filter(looksAtClientAlone).length >= worthwhile
    this.#asksUserAgent = rules.some(({ kind }) => kind === 'user_agent')
  }

  /** Returns the rules to ask, in their order: without those that would not match. */
  rulesFor(visit: Visit): readonly CompiledRule[] {
    if (!this.#isWorthwhile || visit.address === null) return this.#all
    const { readings } = visit.address
    const userAgent = this.#asksUserAgent ? visit.userAgent : ''
    if (readings === this.#reading && userAgent === this.#userAgent)
      return (this.#rules ??= shortened(this.#all, visit))
    this.#reading = readings
    this.#userAgent = userAgent
    this.#rules = null
    return this.#all
  }
}

/** Whether a rule says the same of a client each time. Lists and databases may be others by then. */
function looksAtClientAlone({ kind }: CompiledRule): boolean {
  return kind === 'ip' || kind === 'user_agent'
}

function shortened(rules: readonly CompiledRule[], visit: Visit): readonly CompiledRule[] {
  const worth: CompiledRule[] = []
  for (const rule of rules) {
    const isMatch = looksAtClientAlone(rule) ? rule.matches(visit) : null
    if (isMatch === false) continue
    worth.push(rule)
    if (isMatch === true) break
  }
  return worth
}
