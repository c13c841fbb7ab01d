// What becomes of a request whose path not all read alike, where that matters.

import { type Refusal, refuse } from '../errors/refusal.ts'

/** Refuses a request (400) whose connection is to end, as with all that could be understood in more than one way. */
export const ambiguousPath = refuse('bad_request', {}, { code: 'ambiguous path' })

/** Refuses a request (400) and ends its connection. */
export function refuseAmbiguousPath(x: { keepAlive: boolean }): Refusal {
  x.keepAlive = false
  return ambiguousPath
}
