// What a thread keeps from one input to the next: if that grows with each, the process that reads them fills up.

import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export class KeptMemory {
  readonly #collect: () => void
  #first: number | null = null

  constructor() {
    setFlagsFromString('--expose-gc')
    this.#collect = runInNewContext('gc')
  }

  /** Returns how many bytes more are kept than when it was first called. */
  growth(): number {
    // The first time leaves buffers that are being freed.
    this.#collect()
    this.#collect()
    const { used_heap_size, external_memory } = getHeapStatistics()
    const kept = used_heap_size + external_memory
    this.#first ??= kept
    return kept - this.#first
  }
}
