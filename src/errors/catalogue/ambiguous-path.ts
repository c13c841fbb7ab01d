// Refuses requests whose path origins may interpret differently, where that matters.

import { type Refusal, refuse } from './refusal.ts'

/** Refuses a request (400) and marks its connection to be closed, like every ambiguous request. */
export const ambiguousPath = refuse('bad_request', {}, { code: 'ambiguous path' })

/** Refuses a request (400) and ends its connection. */
export function refuseAmbiguousPath(x: { keepAlive: boolean }): Refusal {
  x.keepAlive = false
  return ambiguousPath
}
