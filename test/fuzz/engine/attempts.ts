// Runs a target with inputs, and notices what it throws, how long it computes and how much it allocates.

import { createHash } from 'node:crypto'
import { getHeapStatistics } from 'node:v8'
import type { Target } from '../target.ts'

/** Ms of CPU that one input may take. */
const maxCpu = 100
/** Bytes that one input may allocate. */
const maxMemory = 64 * 2 ** 20

export interface Fault {
  readonly input: Buffer
  readonly detail: string
  /** The same for inputs that fail in the same way at the same place. */
  readonly signature: string
  /** Whether it can be seen again at once. */
  readonly isRepeatable: boolean
}

/** What a run of one input came to. */
interface Outcome {
  readonly input: Buffer
  readonly error: unknown
}

export class Attempts {
  readonly #target: Target
  /** Is told of each input before it runs: it may never return. */
  readonly #onInput: (input: Buffer) => void

  constructor(target: Target, onInput: (input: Buffer) => void = () => {}) {
    this.#target = target
    this.#onInput = onInput
  }

  /** Runs inputs one behind the other; returns the faults. */
  all(inputs: readonly Buffer[]): readonly Fault[] {
    const rss = process.memoryUsage.rss()
    const faults = inputs.flatMap(input => {
      const began = performance.now()
      const fault = faultOf(this.one(input))
      // No input takes more of the processor than of the time; the clock is cheaper to read.
      return fault ?? (performance.now() - began > maxCpu ? this.#slow(input) : null) ?? []
    })
    if (process.memoryUsage.rss() - rss > maxMemory)
      faults.push(...inputs.flatMap(input => this.#large(input) ?? []))
    return faults
  }

  one(input: Buffer): Outcome | null {
    this.#onInput(input)
    try {
      this.#target.attempt(input)
      return null
    } catch (error) {
      return { input, error }
    }
  }

  /** The least of three runs: the first may be interrupted by a collection of garbage. */
  #slow(input: Buffer): Fault | null {
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i < 3 && least > maxCpu; i++) {
      const before = process.threadCpuUsage()
      this.one(input)
      const { user, system } = process.threadCpuUsage(before)
      least = Math.min(least, (user + system) / 1_000)
    }
    return least > maxCpu ? plainFault(input, 'slow', `took ${Math.round(least)} ms of CPU`) : null
  }

  #large(input: Buffer): Fault | null {
    const before = allocated()
    this.one(input)
    const bytes = allocated() - before
    return bytes > maxMemory
      ? plainFault(input, 'large', `allocated ${Math.round(bytes / 2 ** 20)} MiB`)
      : null
  }
}

export function faultOf(outcome: Outcome | null): Fault | null {
  if (outcome === null) return null
  const { input, error } = outcome
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const place = detail.split('\n').find(line => /\/(?:src|test\/fuzz\/targets)\//.test(line))
  const kind = error instanceof Error ? error.name : typeof error
  return { input, detail, signature: `${kind} ${place?.trim() ?? detail}`, isRepeatable: true }
}

export function plainFault(input: Buffer, signature: string, detail: string): Fault {
  return { input, detail, signature, isRepeatable: false }
}

/** Names the file of a fault. */
export function faultName({ signature }: Fault): string {
  return createHash('sha256').update(signature).digest('hex').slice(0, 8)
}

function allocated(): number {
  const { used_heap_size, external_memory } = getHeapStatistics()
  return used_heap_size + external_memory
}
