// How much of the responses to AI calls is stored.

import type { AnswerBound, AnswerBounds } from '../store/answers/answer.ts'

const mebibyte = 1024 * 1024
const ofGateway: AnswerBound = { bytes: 256 * mebibyte, entries: 50_000 }
const ofAll: AnswerBound = { bytes: 1024 * mebibyte, entries: 200_000 }
export const answerBounds: AnswerBounds = {
  answer: 10 * mebibyte,
  gateway: ofGateway,
  account: ofAll,
  all: ofAll,
}
