// How much memory there is for all processes of this gateway.

import { totalmem } from 'node:os'

/** Returns the bytes that a container or the like may have, or else those of the machine; a constraint of 0, or beyond what there is, is none. */
export function availableToGateway(constraint = process.constrainedMemory(), total = totalmem()): number {
  return constraint > 0 && constraint < total ? constraint : total
}
