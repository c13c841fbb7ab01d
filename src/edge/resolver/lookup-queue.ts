// Bounds how many look-ups are under way, so that names without an answer keep none from those that have one.

/** What is known of a name: that it was found last time, nothing, or that it was not, which may take long again. */
export type Standing = 'found' | 'new' | 'failed'

interface Waiting {
  readonly standing: Standing
  readonly start: () => void
}

/** Lets so many run at a time, and one of those that failed; the rest waits in order, but for names that were found: they come first. */
export class LookupQueue {
  readonly #most: number
  readonly #waiting: Waiting[] = []
  #running = 0
  #failed = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Runs it as soon as it may; settles as it does. */
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
