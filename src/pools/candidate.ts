// What the balances of a pool know of its members, and their interface.

export interface Candidate {
  readonly weight: number
  /** How much of its weight counts now: 1 normally, 0 while it must get no requests. */
  readonly share: number
  readonly outstanding: number
  /** A number that identifies it, the same in all processes. */
  readonly seed: number
}

/** What a choice may depend on. */
export interface ChoiceRequest {
  readonly clientAddress: string
  /** The fields as a flat list: name, value, name, value, … */
  readonly head: { readonly fields: readonly string[] }
}

export interface Balance {
  /** Chooses a candidate that has not been tried; null if all were, or none may get requests. */
  choose<C extends Candidate>(
    candidates: readonly C[],
    request: ChoiceRequest,
    tried: readonly Candidate[],
  ): C | null
  copy(): Balance
}

/** Returns the weight with which a candidate takes part: 0 for not at all. */
export function weightOf(candidate: Candidate, tried: readonly Candidate[]): number {
  return tried.includes(candidate) ? 0 : candidate.weight * candidate.share
}
