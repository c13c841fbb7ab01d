// The contract of stored answers of AI models, and of claims of calls that must not run twice.

import type {
  AnswerBound,
  AnswerBounds,
  AnswerPlace,
  Claim,
  ClaimAsk,
  ClaimEntry,
  ClaimReply,
} from '../answers/answer.ts'

/**
 * Sealed answers by place. They are a cache: each may be missing at any time, and the last ones may be lost
 * in a crash of Redis or a power cut. A copy of the store has none.
 */
export interface Answers {
  /** Returns the sealed bytes; null if there are none, they have expired, or made room for others. */
  read(place: AnswerPlace): Promise<Uint8Array | null>
  /**
   * Stores or replaces an answer until `expiresAt` (ms since the epoch), and removes the oldest ones beyond
   * the bounds. Others read all of it or the previous one. False if it is larger than the bounds. The bytes
   * must not change before this is settled.
   */
  write(place: AnswerPlace, sealed: Uint8Array, expiresAt: number, bounds: AnswerBounds): Promise<boolean>
  /** False if there was none. */
  remove(place: AnswerPlace): Promise<boolean>
  /** Removes all answers of a gateway, in steps; one that is being written may come after. */
  eraseGateway(account: string, gateway: string): Promise<void>
  eraseAccount(account: string): Promise<void>
  /** Returns how much an account, or one gateway of it, has stored; expired ones may be included. */
  sum(account: string, gateway?: string): Promise<AnswerBound>
  /** Returns how much all accounts have stored. */
  total(): Promise<AnswerBound>
  /**
   * Removes, in steps, what has expired, what belongs to gateways that are gone, and the oldest answers
   * beyond `maxBytes` in all accounts. Redis, where each account has a slot, knows that bound only here.
   */
  sweep(maxBytes: number): Promise<void>
}

/**
 * Claims of calls by place, as durable as records. None is forgotten before it expires, even if its
 * gateway is removed, and none changes its holder, so that no call is made twice.
 */
export interface Claims {
  /**
   * Claims a call that nobody has claimed; of concurrent callers one wins. A holder that claims again what is
   * its own gets `new` again. Rejects, with the outcome unknown, if the store does not confirm it.
   */
  claim(ask: ClaimAsk): Promise<ClaimReply>
  /** Returns a claim, as current as records are; null if there is none. */
  look(place: AnswerPlace): Promise<Claim | null>
  /** Extends the lease to `lease` ms from now, also of a lost claim. False if it is not the holder's. */
  renew(place: AnswerPlace, holder: string, lease: number): Promise<boolean>
  /** Ends a running or lost claim as `done`, with another note. False if the claim is not the holder's. */
  settle(place: AnswerPlace, holder: string, note: string): Promise<boolean>
  /** Forgets a claim whose call was surely never made. False if it is not the holder's, or done. */
  release(place: AnswerPlace, holder: string): Promise<boolean>
  /** Returns all claims of an account, in pages. */
  entries(account: string): AsyncIterable<readonly ClaimEntry[]>
  /** Puts claims of an account as they were, over any of the same places. */
  restore(account: string, entries: readonly ClaimEntry[]): Promise<void>
}
