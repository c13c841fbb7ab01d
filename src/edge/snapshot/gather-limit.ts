// The bytes of whole request bodies that a process may buffer, derived from the memory of the machine.

import { availableParallelism, totalmem } from 'node:os'
import type { Config } from '../../config/model/config.ts'

/** The share of buffered bodies in the memory of all processes. */
const share = 0.4
/**
 * Bytes of memory per byte of a body, as measured: it includes the body for the provider, with another model
 * name, and garbage of both.
 */
const cost = 3.2
/** The maximum for one process. */
const max = 512 * 1024 * 1024

/** Returns the bytes of all buffered bodies of a process together; at least one of the maximum size fits. */
export function gatherLimitOf({ workers, ai }: Config, memory = availableToGateway()): number {
  const processes = workers === 'auto' ? availableParallelism() : Math.max(1, workers)
  const affordable = Math.floor((memory * share) / cost / processes)
  return Math.max(ai.bodyLimit, Math.min(max, affordable))
}

/**
 * Returns the memory limit of the container in bytes, or else the memory of the machine. A constraint of 0 or
 * beyond that memory means no limit.
 */
export function availableToGateway(constraint = process.constrainedMemory(), total = totalmem()): number {
  return constraint > 0 && constraint < total ? constraint : total
}
