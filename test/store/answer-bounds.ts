// Bounds of stored answers, as tests have them.
import type { AnswerBound, AnswerBounds } from '../../src/store/answers/answer.ts'

/** Returns bounds under which no account and no gateway takes more than half of the room. */
export function boundsWithin(all: AnswerBound, answer: number): AnswerBounds {
  const half = { bytes: Math.floor(all.bytes / 2), entries: Math.ceil(all.entries / 2) }
  return { answer, gateway: half, account: half, all }
}
