// The bytes of buffered request bodies, derived from the memory of the machine.

import { availableParallelism, totalmem } from 'node:os'
import type { Config } from '../../config/model/config.ts'

const share = 0.4
/** Bytes of memory per byte, as measured, with the body for the provider and garbage of both. */
const cost = 3.2
const max = 512 * 1024 * 1024

/** For all bodies of a process together; at least one of the maximum size fits. */
export function gatherLimitOf({ workers, ai, zones }: Config, memory = availableToGateway()): number {
  const processes = workers === 'auto' ? availableParallelism() : Math.max(1, workers)
  const affordable = Math.floor((memory * share) / cost / processes)
  const messages = zones.flatMap(({ routes }) => routes.map(({ mcp }) => mcp?.bodyLimit ?? 0))
  return Math.max(ai.bodyLimit, ...messages, Math.min(max, affordable))
}

/** Of the container; 0 or more than the machine has means that there is no such limit. */
export function availableToGateway(constraint = process.constrainedMemory(), total = totalmem()): number {
  return constraint > 0 && constraint < total ? constraint : total
}
