// Chooses the member with the fewest unfinished requests relative to its weight; equal members take turns.

import { type ChoiceRequest, type Balance, type Candidate, weightOf } from './candidate.ts'
import { Turns } from './turns.ts'

export class LeastOutstanding implements Balance {
  readonly #turns: Turns

  /** Takes the number of candidates, or the turns to continue. */
  constructor(turns: number | Turns) {
    this.#turns = typeof turns === 'number' ? new Turns(turns) : turns
  }

  copy(): LeastOutstanding {
    return new LeastOutstanding(this.#turns.copy())
  }

  choose<C extends Candidate>(
    candidates: readonly C[],
    _request: ChoiceRequest,
    tried: readonly Candidate[],
  ): C | null {
    let minLoad = Number.POSITIVE_INFINITY
    for (const candidate of candidates) minLoad = Math.min(minLoad, loadOf(candidate, tried))
    if (minLoad === Number.POSITIVE_INFINITY) return null
    for (let i = 0; i < candidates.length; i++) {
      const candidate = candidates[i]!
      if (loadOf(candidate, tried) === minLoad) this.#turns.enter(i, weightOf(candidate, tried))
    }
    return candidates[this.#turns.take()] ?? null
  }
}

function loadOf(candidate: Candidate, tried: readonly Candidate[]): number {
  const weight = weightOf(candidate, tried)
  return weight === 0 ? Number.POSITIVE_INFINITY : candidate.outstanding / weight
}
