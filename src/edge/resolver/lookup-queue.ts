// Limits concurrent lookups.

export type LastResult = 'found' | 'new' | 'failed'

interface QueuedLookup {
  readonly lastResult: LastResult
  readonly start: () => void
}

/** One place is for names that failed before; of the others, those that were found come first. */
export class LookupQueue {
  readonly #max: number
  readonly #queue: QueuedLookup[] = []
  #running = 0
  #failed = 0

  constructor(max: number) {
    this.#max = max
  }

  async run<T>(lastResult: LastResult, work: () => Promise<T>): Promise<T> {
    if (this.#mayRun(lastResult)) this.#enter(lastResult)
    else await new Promise<void>(start => this.#queue.push({ lastResult: lastResult, start }))
    try {
      return await work()
    } finally {
      this.#leave(lastResult)
    }
  }

  #mayRun(lastResult: LastResult): boolean {
    return this.#running < this.#max && (lastResult !== 'failed' || this.#failed === 0)
  }

  #enter(lastResult: LastResult): void {
    this.#running++
    if (lastResult === 'failed') this.#failed++
  }

  #leave(lastResult: LastResult): void {
    this.#running--
    if (lastResult === 'failed') this.#failed--
    const firstIndex = this.#queue.findIndex(({ lastResult }) => lastResult === 'found')
    const at =
      firstIndex === -1 ? this.#queue.findIndex(({ lastResult }) => this.#mayRun(lastResult)) : firstIndex
    if (at === -1) return
    const [next] = this.#queue.splice(at, 1)
    this.#enter(next!.lastResult)
    next!.start()
  }
}
