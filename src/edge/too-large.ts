// The refusal of a body over its limit, announced or counted.
import { formatSize } from '../base/quantity.ts'
import { type Refusal, refuse } from '../errors/refusal.ts'
import type { Exchange } from './exchange.ts'

/** Refuses with 413; a caller of an AI route is told the limit. */
export function tooLarge(x: Exchange): Refusal {
  if (x.aiCaller === null) return refuse('content_too_large')
  const message = `The body must have at most ${formatSize(x.bodyLimit)}`
  return refuse('content_too_large', { faults: [{ code: 6005, message, pointer: null }] })
}
