// Members take turns, each in proportion to its weight.

import { type ChoiceRequest, type Balance, type Candidate, weightOf } from './candidate.ts'
import { Turns } from './turns.ts'

export class RoundRobin implements Balance {
  readonly #turns: Turns

  /** Takes the number of candidates, or the turns to continue. */
  constructor(turns: number | Turns) {
    this.#turns = typeof turns === 'number' ? new Turns(turns) : turns
  }

  copy(): RoundRobin {
    return new RoundRobin(this.#turns.copy())
  }

  choose<C extends Candidate>(
    candidates: readonly C[],
    _request: ChoiceRequest,
    tried: readonly Candidate[],
  ): C | null {
    for (let i = 0; i < candidates.length; i++) {
      const weight = weightOf(candidates[i]!, tried)
      if (weight > 0) this.#turns.enter(i, weight)
    }
    return candidates[this.#turns.take()] ?? null
  }
}
