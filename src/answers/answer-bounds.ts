// How much of the responses to AI calls is stored.

import type { ReuseConfig } from '../config/model/config.ts'
import type { AnswerBounds } from '../store/answers/answer.ts'

/** However small they are: each takes more in the store than its own bytes. */
const maxEntries = { gateway: 50_000, all: 200_000 }

export function answerBoundsOf({ response, gateway, total }: ReuseConfig): AnswerBounds {
  const all = { bytes: total, entries: maxEntries.all }
  return { answer: response, gateway: { bytes: gateway, entries: maxEntries.gateway }, account: all, all }
}
