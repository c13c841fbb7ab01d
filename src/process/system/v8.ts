// How V8 manages the memory of a serving process, and when it optimizes code. Each entry point of one imports
// this file first.

import { flushCompileCache } from 'node:module'
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Size of the young generation, both halves, at which it stops doubling, in bytes. */
const enough = 8 * 2 ** 20

/**
 * By how many percent of what lives the old generation grows before it is collected. V8 lets it grow several
 * times as much, for no less CPU: what calls leave there until their log entries are written took 45 MiB
 * more. With 30, a chat costs a fifth more.
 */
const growth = 100

/**
 * Calls of a function after which V8 optimizes it; by default 3,000. Much of what begins a stream runs once
 * for each, and would be slow for thousands of them.
 */
const callsToOptimize = 1_000

/** Modules that load, with their own dependencies, most of Node that a gateway uses. */
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

// Bodies are buffers outside of V8's heap. By default V8 responds to every few MiB of them with a full
// garbage collection, which costs a third of the CPU and ten times the p99 of a large body; counted against
// the total limit, they are freed with the young generation. V8 accepts compiled code, also that of Node
// itself, only under the flags that it was compiled under. So the needed parts of Node are loaded first,
// which saves 30 ms of CPU at a start. Our own code is loaded afterwards, and compiled under the flag for the
// next start: setting the flag once the process served cost 5 % more CPU per GET.
for (const name of neededOfNode) process.getBuiltinModule(name)
if (isKnown) setFlagsFromString('--external-memory-accounted-in-global-limit')

/** Sets the above, except for what the operator has set. Call it once the process serves. */
export function tuneV8(): void {
  if (!isKnown) return
  // Code compiled with the next flags set would be of no use to the next start.
  flushCompileCache()
  if (!isSetByOperator(/heap[-_]growing/)) setFlagsFromString(`--heap-growing-percent=${growth}`)
  if (!isSetByOperator(/invocation[-_]count/))
    setFlagsFromString(`--invocation-count-for-turbofan=${callsToOptimize}`)
  if (!isSetByOperator(/semi[-_]space/)) boundYoungGeneration()
}

function isSetByOperator(flag: RegExp): boolean {
  return flag.test(`${process.execArgv} ${process.env.NODE_OPTIONS}`)
}

/** V8 hardly ever gives back what thousands of simultaneous connections make it grow to. */
function boundYoungGeneration(): void {
  let isEnough = false
  const check = () => {
    if (youngGeneration() >= enough === isEnough) return
    isEnough = !isEnough
    // V8 reads the limit itself only when a heap is made, but the growth factor each time.
    setFlagsFromString(`--semi-space-growth-factor=${isEnough ? 1 : 2}`)
  }
  check()
  new PerformanceObserver(check).observe({ type: 'gc' })
}

function youngGeneration(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0
}
