// Refuses requests whose path is read differently by different origins, where that matters.

import { type Refusal, refuse } from './refusal.ts'

/** Refuses a request (400) and marks its connection to be closed, as for everything that can be understood in more than one way. */
export const ambiguousPath = refuse('bad_request', {}, { code: 'ambiguous path' })

/** Refuses a request (400) and ends its connection. */
export function refuseAmbiguousPath(x: { keepAlive: boolean }): Refusal {
  x.keepAlive = false
  return ambiguousPath
}
