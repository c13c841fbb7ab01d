// How many bytes of request bodies a process may buffer whole: as much as the memory is good for, whatever else needs some of it.

import { availableParallelism, totalmem } from 'node:os'
import type { Config } from '../../config/model/config.ts'

/** What buffered bodies may take of the memory of all processes. */
const share = 0.4
/** Bytes of memory that a byte of a body takes, as measured: with the body for the provider, in which the model has another name, and what of both waits to be collected. */
const cost = 3.2
/** Most bytes of bodies in one process. */
const most = 512 * 1024 * 1024

/** Returns the bytes that all buffered bodies of a process may have together; at least one of the largest size must fit. */
export function gatherLimitOf({ workers, ai }: Config, memory = availableToGateway()): number {
  const processes = workers === 'auto' ? availableParallelism() : Math.max(1, workers)
  const affordable = Math.floor((memory * share) / cost / processes)
  return Math.max(ai.bodyLimit, Math.min(most, affordable))
}

/** Returns the bytes that a container or the like may have, or else those of the machine; a constraint of 0, or beyond what there is, is none. */
export function availableToGateway(constraint = process.constrainedMemory(), total = totalmem()): number {
  return constraint > 0 && constraint < total ? constraint : total
}
