// How V8 manages the memory of a process that serves traffic. Imported first by each entry point of one.

import { flushCompileCache } from 'node:module'
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Bytes of the young generation, both halves, from which on it no longer doubles. */
const enough = 8 * 2 ** 20

/** The modules that load, with what they need themselves, most of Node that a gateway uses. */
const neededOfNode = [
  'assert',
  'cluster',
  'crypto',
  'dns/promises',
  'fs/promises',
  'http',
  'https',
  'os',
  'readline/promises',
  'stream/consumers',
  'timers/promises',
  'worker_threads',
  'zlib',
]

// Only for the pinned release of Node: the V8 of another may not know the flags.
const [major] = process.versions.node.split('.')
const isKnown = major === '26'

// Bodies are buffers outside of V8's heap. By default V8 responds to every few MiB of them with a full garbage collection, which costs a third
// of the CPU and ten times the p99 of a large body; counted against the total limit, they are freed with the young generation.
// V8 takes compiled code, that of Node itself included, only under the flags that it was compiled under. So what is needed of Node is loaded before: 30 ms of
// CPU less at a start. Our own code is loaded behind, and compiled for the next start under the flag: set once the process served, it cost a GET 5 % more CPU.
for (const name of neededOfNode) process.getBuiltinModule(name)
if (isKnown) setFlagsFromString('--external-memory-accounted-in-global-limit')

/** Bounds the young generation from now on, unless the operator has set its size. To be called once the process serves. */
export function tuneHeap(): void {
  if (!isKnown || isSizedByOperator()) return
  // What is written with the next flag set would be of no use to the next start.
  flushCompileCache()
  boundYoungGeneration()
}

/** Whether a size was set on the command line or in NODE_OPTIONS. */
function isSizedByOperator(): boolean {
  return /semi[-_]space/.test(`${process.execArgv} ${process.env.NODE_OPTIONS}`)
}

/** Ends the growth of the young generation in time. Thousands of connections that come at once survive in it, and V8 would make it tens of MiB for them, which it hardly ever gives back. */
function boundYoungGeneration(): void {
  let isEnough = false
  const check = () => {
    if (youngGeneration() >= enough === isEnough) return
    isEnough = !isEnough
    // The limit itself is read when a heap is made; the factor by which to grow, each time.
    setFlagsFromString(`--semi-space-growth-factor=${isEnough ? 1 : 2}`)
  }
  check()
  new PerformanceObserver(check).observe({ type: 'gc' })
}

/** Returns the bytes that are set aside for new objects. */
function youngGeneration(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0
}
