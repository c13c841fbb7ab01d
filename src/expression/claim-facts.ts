// The claims of a token as conditions read them.

/** As JSON has them. */
export interface ClaimFacts {
  readonly claims: Readonly<Record<string, unknown>>
}

/** A map, so that a missing claim is a missing key, as always in CEL. */
export const claimVariables = { claims: 'map<string, dyn>' } as const

export class ClaimVariables implements Record<keyof typeof claimVariables, unknown> {
  readonly claims: unknown

  constructor({ claims }: ClaimFacts) {
    this.claims = asFact(claims)
  }
}

/** Objects become maps, whose keys cannot be those of a prototype, and whole numbers integers. */
function asFact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asFact)
  if (typeof value === 'object' && value !== null)
    return new Map(Object.entries(value).map(([name, member]) => [name, asFact(member)]))
  return Number.isSafeInteger(value) ? BigInt(value as number) : value
}
