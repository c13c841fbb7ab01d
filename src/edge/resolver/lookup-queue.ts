// Bounds concurrent lookups, so that names whose servers do not respond do not delay the others.

/** The last result for a name: it was found, nothing is known, or it was not found, which may take long again. */
export type Standing = 'found' | 'new' | 'failed'

interface Waiting {
  readonly standing: Standing
  readonly start: () => void
}

/** Runs so many at a time, and one of those that failed before; the rest is queued in order, except that names that were found come first. */
export class LookupQueue {
  readonly #most: number
  readonly #waiting: Waiting[] = []
  #running = 0
  #failed = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Runs it as soon as possible; settles as it does. */
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
