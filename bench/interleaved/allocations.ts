// What a contestant written for Node allocates, read from another process.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keep } from '../load/launch.ts'
import type { Peer } from '../load/peers.ts'

/** Milliseconds after which a thread has written again what it has allocated. */
export const allocationPeriod = 200

/** Bytes that each thread has in the file. */
export const slotLength = 8

const meter = join(import.meta.dirname, 'allocation-meter.ts')
let made = 0

/** Whose allocations are meant. */
export type Threads = 'all' | 'main'

/** A peer whose threads write down what they allocate. */
export interface MeteredPeer extends Peer {
  /** Returns the bytes that all its threads have allocated, or its main thread alone, as of the last period. */
  allocated(threads?: Threads): number
}

/** Has the threads of a peer write down what they allocate. */
export function withAllocations(peer: Peer): MeteredPeer {
  const path = keep(`allocations-${++made}`, '')
  return {
    ...peer,
    async prepare(port, origin, isTls) {
      const command = await peer.prepare(port, origin, isTls)
      return { ...command, env: { ...command.env, NODE_OPTIONS: `--import=${meter}`, ALLOCATIONS: path } }
    },
    allocated: (threads = 'all') =>
      sumOfSlots(readFileSync(path).subarray(0, threads === 'all' ? undefined : slotLength)),
  }
}

/** Returns the sum of the doubles in a file. */
export function sumOfSlots(bytes: Buffer): number {
  let sum = 0
  for (let at = 0; at + slotLength <= bytes.length; at += slotLength) sum += bytes.readDoubleLE(at)
  return sum
}
