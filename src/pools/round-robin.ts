// Members in turn, each as often as its weight says.

import { type Asking, type Balance, type Candidate, weightOf } from './candidate.ts'
import { Turns } from './turns.ts'

export class RoundRobin implements Balance {
  readonly #turns: Turns

  constructor(count: number) {
    this.#turns = new Turns(count)
  }

  choose<C extends Candidate>(
    candidates: readonly C[],
    _request: Asking,
    tried: readonly Candidate[],
  ): C | null {
    for (let i = 0; i < candidates.length; i++) {
      const weight = weightOf(candidates[i]!, tried)
      if (weight > 0) this.#turns.enter(i, weight)
    }
    return candidates[this.#turns.take()] ?? null
  }
}
