// What is counted of errors, rules and limits over hours, by zone: the rows of it, and how long they stay.

const minute = 60_000
const hour = 60 * minute

/** How long the slots of each kind are, and for how long after its end one stays; in ms. */
export const tallyKinds = {
  error: { slot: hour, kept: 24 * hour },
  access_rule: { slot: hour, kept: 24 * hour },
  error_rule: { slot: hour, kept: 24 * hour },
  limit: { slot: 10 * minute, kept: hour },
} as const
export type TallyKind = keyof typeof tallyKinds

/** The most occurrences that stay of each name. */
export const mostOccurrences = 20

/** What happened how often in a slot. Kind, scope and name say what: kinds of scopes and names are the business of those who count. */
export interface Tally {
  readonly kind: TallyKind
  readonly scope: string
  readonly name: string
  /** When the slot begins, as `slotOf` has it. */
  readonly slot: number
  readonly count: number
  /** When it happened last, in ms since the epoch. */
  readonly last: number
  /** Some of them. */
  readonly occurrences: readonly Occurrence[]
}

/** One request that got an error. Method, host and path are what a client wrote, cut. */
export interface Occurrence {
  /** When the request began, in ms since the epoch. */
  readonly at: number
  readonly ray: string
  readonly method: string
  readonly host: string
  /** Without query. */
  readonly path: string
  /** 0 where the client left before it got any. */
  readonly status: number
  /** The format that the client prefers for errors. */
  readonly format: string
}

/** The slots of a name together. */
export interface TallySum {
  readonly name: string
  /** By time, without those in which nothing happened. */
  readonly slots: readonly (readonly [slot: number, count: number])[]
  readonly last: number
}

/** Returns the beginning of the slot of a moment; both in ms since the epoch. */
export function slotOf(kind: TallyKind, at: number): number {
  const { slot } = tallyKinds[kind]
  return Math.floor(at / slot) * slot
}

/** Returns until when a slot stays. */
export function endOfSlot(kind: TallyKind, slot: number): number {
  return slot + tallyKinds[kind].slot + tallyKinds[kind].kept
}

/** Returns the occurrences of two lists that came last, newest first. */
export function lastOf(some: readonly Occurrence[], others: readonly Occurrence[]): readonly Occurrence[] {
  return [...some, ...others].sort((one, other) => other.at - one.at).slice(0, mostOccurrences)
}
