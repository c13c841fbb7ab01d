// Bounds of stored answers, as tests have them.
import type { AnswerBound, AnswerBounds } from '../../src/store/answers/answer.ts'

/** Returns bounds under which no account and no gateway takes more than half of the room. */
export function boundsWithin(all: AnswerBound, answer: number): AnswerBounds {
  const half = { bytes: Math.floor(all.bytes / 2), entries: Math.ceil(all.entries / 2) }
  return { answer, gateway: half, account: half, all }
}

/** The part of a claim that says whose it is, with room for many. */
export const owned = { owner: 'o', maxClaims: 9_999, maxOfOwner: 9_999 }
