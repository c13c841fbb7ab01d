// Fuzzes one target in a thread of its own, which may hang or run out of memory.

import { setImmediate as turn } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { targetNamed } from '../targets.ts'
import { Attempts } from './attempts.ts'
import { Coverage } from './coverage.ts'
import { Fuzzer } from './fuzzer.ts'
import { readInputs, writeInputs } from './corpus-file.ts'
import { InputSlot } from './input-slot.ts'
import { KeptMemory } from './kept-memory.ts'

/** What the thread is to do. */
export interface Task {
  readonly name: string
  /** Of the processor. */
  readonly minutes: number
  readonly seed: number
  /** The file of the corpus. */
  readonly corpus: string
  readonly slot: SharedArrayBuffer
}

const { name, minutes, seed, corpus, slot } = workerData as Task
const port = parentPort!

const coverage = new Coverage()
const target = await targetNamed(name)
coverage.watch(target.covers)
const current = new InputSlot(slot)
const attempts = new Attempts(target, input => current.put(input))
const fuzzer = new Fuzzer(target, coverage, attempts, seed, fault => port.postMessage({ fault }))

const seeds = target.seeds.map(seed => (typeof seed === 'string' ? Buffer.from(seed, 'latin1') : seed))
fuzzer.begin([...readInputs(corpus), ...seeds])
port.postMessage({ figures: fuzzer.figures, seconds: 0 })
const memory = new KeptMemory()
const began = process.threadCpuUsage()
let isNext = performance.now() + 10_000
while (seconds() < minutes * 60 && fuzzer.mayGoOn && !current.isOver) {
  fuzzer.step()
  // What weak references refer to is kept until then.
  await turn()
  if (performance.now() < isNext) continue
  isNext = performance.now() + 10_000
  // The first ten seconds have loaded and compiled all that there is.
  port.postMessage({ figures: fuzzer.figures, seconds: seconds(), growth: memory.growth() })
}
const { executions, faults, reached, known } = fuzzer.figures
const took = seconds()
const growth = memory.growth()
const room = writeInputs(corpus, fuzzer.smallestCorpus(), target.hidesCorpus)
port.postMessage({
  figures: { ...fuzzer.figures, executions, faults, reached, known },
  ...{ seconds: took, growth, room },
})

/** Of the processor: a busy machine takes longer. */
function seconds(): number {
  const { user, system } = process.threadCpuUsage(began)
  return (user + system) / 1e6
}
