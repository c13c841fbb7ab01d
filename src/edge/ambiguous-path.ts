// What becomes of a request whose path not all read alike, where that matters. Called by the steps that depend on the path.
import { type Refusal, refuse } from '../errors/refusal.ts'
import type { Exchange } from './exchange.ts'

/** Refuses a request (400) and ends its connection, as with all that could be understood in more than one way. */
export function refuseAmbiguousPath(x: Exchange): Refusal {
  x.keepAlive = false
  return AMBIGUOUS
}

const AMBIGUOUS = refuse('bad_request', {}, { code: 'ambiguous path' })
