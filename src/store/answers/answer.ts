// Answers of AI models at rest, sealed by whoever stores them, and claims of calls that must not run twice.

/** The place of an answer or a claim; `key` has up to 128 letters, digits, `-` and `_`. */
export interface AnswerPlace {
  readonly account: string
  readonly gateway: string
  readonly key: string
}

export interface AnswerBound {
  readonly bytes: number
  readonly entries: number
}

/** How much is stored; beyond it, the oldest answers make room for new ones. */
export interface AnswerBounds {
  /** The most bytes of one answer. */
  readonly answer: number
  readonly gateway: AnswerBound
  readonly account: AnswerBound
  readonly all: AnswerBound
}

/** The most bytes that one statement or command carries. */
export const partSize = 256 * 1024

/** Returns an answer in parts, without copying it; an empty one has one part. */
export function partsOf(sealed: Uint8Array): readonly Uint8Array[] {
  const count = partCount(sealed.length)
  return Array.from({ length: count }, (_, i) => sealed.subarray(i * partSize, (i + 1) * partSize))
}

export function partCount(size: number): number {
  return Math.max(1, Math.ceil(size / partSize))
}

export interface ClaimAsk extends AnswerPlace {
  /** Whose call it is, within the account: 1 to 64 letters, digits, `-` and `_`. */
  readonly owner: string
  /** Stands for the whole call: a claim with another fingerprint is another call. */
  readonly fingerprint: string
  /** Unique for each call, of letters, digits, `-`, `_` and `.`. */
  readonly holder: string
  /** Ms. */
  readonly lease: number
  /** Ms since the epoch at which the claim is forgotten. */
  readonly expiresAt: number
  /** What others learn of the call, up to 1,024 characters; no text of clients. */
  readonly note: string
  /** The most claims of the account, and of one owner; more are refused, as none is forgotten early. */
  readonly maxClaims: number
  readonly maxOfOwner: number
}

/**
 * `running`: its holder has renewed it within its lease. `lost`: it has not, so that nobody knows whether the
 * call was made. `done`: it has ended, and its answer was stored, but may have made room for others.
 */
export type ClaimState = 'running' | 'lost' | 'done'

export interface Claim {
  readonly state: ClaimState
  readonly fingerprint: string
  readonly holder: string
  readonly note: string
}

/** A claim as a copy of the store has it; times in ms since the epoch. */
export interface ClaimEntry extends AnswerPlace {
  readonly owner: string
  readonly fingerprint: string
  readonly holder: string
  readonly note: string
  readonly leasedUntil: number
  readonly isDone: boolean
  readonly expiresAt: number
}

/**
 * `new`: the call is the caller's to make. `full`: its account or its owner has too many claims, of which the
 * first expires at `until` (ms since the epoch).
 */
export type ClaimReply =
  | { readonly outcome: 'new' }
  | { readonly outcome: 'full'; readonly of: 'account' | 'owner'; readonly until: number }
  | { readonly outcome: 'taken'; readonly claim: Claim }
