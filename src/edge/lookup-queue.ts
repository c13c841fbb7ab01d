// Bounds how many look-ups are under way, so that names without an answer keep none from those that have one. Used by `name-lookup.ts`.

interface Waiting {
  readonly isDoubtful: boolean
  readonly start: () => void
}

/** Lets so many run at a time, and fewer of those that are likely to take long for nothing; the rest waits in order. */
export class LookupQueue {
  readonly #most: number
  readonly #mostDoubtful: number
  readonly #waiting: Waiting[] = []
  #running = 0
  #doubtful = 0

  constructor(most: number, mostDoubtful: number) {
    this.#most = most
    this.#mostDoubtful = mostDoubtful
  }

  /** Runs it as soon as it may; settles as it does. */
  async run<T>(isDoubtful: boolean, work: () => Promise<T>): Promise<T> {
    if (!this.#mayRun(isDoubtful)) await new Promise<void>(start => this.#waiting.push({ isDoubtful, start }))
    else this.#enter(isDoubtful)
    try {
      return await work()
    } finally {
      this.#leave(isDoubtful)
    }
  }

  #mayRun(isDoubtful: boolean): boolean {
    return this.#running < this.#most && !(isDoubtful && this.#doubtful >= this.#mostDoubtful)
  }

  #enter(isDoubtful: boolean): void {
    this.#running++
    if (isDoubtful) this.#doubtful++
  }

  #leave(wasDoubtful: boolean): void {
    this.#running--
    if (wasDoubtful) this.#doubtful--
    const at = this.#waiting.findIndex(({ isDoubtful }) => this.#mayRun(isDoubtful))
    if (at === -1) return
    const [next] = this.#waiting.splice(at, 1)
    this.#enter(next!.isDoubtful)
    next!.start()
  }
}
