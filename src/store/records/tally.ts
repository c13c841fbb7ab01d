// Counts of errors, rules, limits, budgets and MCP servers by zone or account: their rows, and how long they
// are kept.

const minute = 60_000
const hour = 60 * minute

/** For each kind, the length of a slot and how long it is kept after its end, in ms. */
export const tallyKinds = {
  error: { slot: hour, retention: 24 * hour },
  access_rule: { slot: hour, retention: 24 * hour },
  error_rule: { slot: hour, retention: 24 * hour },
  limit: { slot: 10 * minute, retention: hour },
  budget: { slot: hour, retention: 24 * hour },
  mcp: { slot: hour, retention: 24 * hour },
} as const
export type TallyKind = keyof typeof tallyKinds

/** The maximum number of occurrences kept per name. */
export const maxOccurrences = 20

/**
 * How often something happened in a slot, identified by kind, scope and name. The code that counts defines
 * kinds of scopes and names.
 */
export interface Tally {
  readonly kind: TallyKind
  readonly scope: string
  readonly name: string
  /** The start of the slot, as from `slotOf`. */
  readonly slot: number
  readonly count: number
  /** The latest time, in ms since the epoch. */
  readonly last: number
  readonly occurrences: readonly Occurrence[]
}

/** One request that got an error. Method, host and path are from the client, truncated. */
export interface Occurrence {
  /** The start of the request, in ms since the epoch. */
  readonly at: number
  readonly ray: string
  readonly method: string
  readonly host: string
  readonly path: string
  /** 0 if the client disconnected before the response. */
  readonly status: number
  /** The format that the client prefers for errors. */
  readonly format: string
}

export interface TallySum {
  readonly name: string
  /** By time, without empty slots. */
  readonly slots: readonly (readonly [slot: number, count: number])[]
  readonly last: number
}

export function slotOf(kind: TallyKind, at: number): number {
  const { slot } = tallyKinds[kind]
  return Math.floor(at / slot) * slot
}

export function endOfSlot(kind: TallyKind, slot: number): number {
  return slot + tallyKinds[kind].slot + tallyKinds[kind].retention
}

/** Returns the latest occurrences of two lists, newest first. */
export function lastOf(some: readonly Occurrence[], others: readonly Occurrence[]): readonly Occurrence[] {
  return [...some, ...others].sort((one, other) => other.at - one.at).slice(0, maxOccurrences)
}
