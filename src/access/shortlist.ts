// The rules of a policy that still need evaluating: for a returning client, rules that look only at who it is need not be evaluated again.

import type { CompiledRule } from './rules.ts'
import type { Visit } from './visit.ts'

/** With fewer rules of that kind, caching their results costs more than it saves. */
const worthwhile = 4

export class Shortlist {
  readonly #all: readonly CompiledRule[]
  readonly #isWorthwhile: boolean
  readonly #asksUserAgent: boolean
  /** The client of the last request. */
  #reading = -1
  #userAgent = ''
  /** The rules that remain for it; null until it comes a second time. */
  #rules: readonly CompiledRule[] | null = null

  constructor(rules: readonly CompiledRule[]) {
    this.#all = rules
    this.#isWorthwhile = rules.filter(looksAtClientAlone).length >= worthwhile
    this.#asksUserAgent = rules.some(({ kind }) => kind === 'user_agent')
  }

  /** Returns the rules to evaluate, in order, without those that cannot match. */
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

/** Whether a rule always gives the same result for a client. Lists and databases may change in between. */
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
