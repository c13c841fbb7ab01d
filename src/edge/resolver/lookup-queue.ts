// Limits concurrent lookups, so that names with unresponsive servers do not delay the others.

/** The last result for a name: found, none so far, or not found, which may take long again. */
export type Standing = 'found' | 'new' | 'failed'

interface Waiting {
  readonly standing: Standing
  readonly start: () => void
}

/**
 * Runs a limited number of lookups at a time, one of them for names that failed before. The rest are queued
 * in order, except that names that were found come first.
 */
export class LookupQueue {
  readonly #most: number
  readonly #waiting: Waiting[] = []
  #running = 0
  #failed = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Runs the lookup as soon as possible, and settles with it. */
  async run<T>(standing: Standing, work: () => Promise<T>): Promise<T> {
    if (this.#mayRun(standing)) this.#enter(standing)
    else await new Promise<void>(start => this.#waiting.push({ standing, start }))
    try {
      return await work()
    } finally {
      this.#leave(standing)
    }
  }

  #mayRun(standing: Standing): boolean {
    return this.#running < this.#most && (standing !== 'failed' || this.#failed === 0)
  }

  #enter(standing: Standing): void {
    this.#running++
    if (standing === 'failed') this.#failed++
  }

  #leave(standing: Standing): void {
    this.#running--
    if (standing === 'failed') this.#failed--
    const found = this.#waiting.findIndex(({ standing }) => standing === 'found')
    const at = found === -1 ? this.#waiting.findIndex(({ standing }) => this.#mayRun(standing)) : found
    if (at === -1) return
    const [next] = this.#waiting.splice(at, 1)
    this.#enter(next!.standing)
    next!.start()
  }
}
