// Whether a request has passed this gateway before (RFC 8586).

import { listHas } from '../../http1/fields/fields.ts'
import type { Exchange } from './exchange.ts'

/** Parameters are ignored. */
export function hasPassedHere({ head: { cdnLoop }, snapshot }: Exchange): boolean {
  if (cdnLoop === null) return false
  // So many hops are a loop, whatever their names.
  if (cdnLoop.length > maxLoopLength) return true
  const hops = cdnLoop.replace(/;[^,]*/g, '')
  return listHas(hops, snapshot.name.toLowerCase())
}

const maxLoopLength = 4096
