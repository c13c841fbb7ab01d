// What the ways to share the requests of a pool know of its members, and what they must do.

/** A member as it is chosen. */
export interface Candidate {
  readonly weight: number
  /** How much of its weight counts now: 1 when all is well, 0 while nothing may go to it. */
  readonly share: number
  /** Requests that it has not yet answered. */
  readonly outstanding: number
  /** A number of its own, the same in all processes. */
  readonly seed: number
}

/** What a choice may depend on. */
export interface Asking {
  readonly clientAddress: string
  /** The fields stand flat: name, value, name, value, … */
  readonly head: { readonly fields: readonly string[] }
}

export interface Balance {
  /** Chooses one that is not among those tried; null where all are, or nothing may go to any. */
  choose<C extends Candidate>(
    candidates: readonly C[],
    request: Asking,
    tried: readonly Candidate[],
  ): C | null
  /** Returns one that would choose the same next, and whose choices leave this one as it is. */
  copy(): Balance
}

/** Returns the weight with which a candidate takes part: 0 for not at all. */
export function weightOf(candidate: Candidate, tried: readonly Candidate[]): number {
  return tried.includes(candidate) ? 0 : candidate.weight * candidate.share
}
