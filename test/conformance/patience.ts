// Waiting for a peer that may never do what is awaited: by its news, for as long as both had the processor.

/** Ms without news after which nothing more is awaited. */
const usual = 4_000
/** How much later than planned a timer may fire before the machine must have stood still. */
const slack = 500
/** Ms that are left for news once the peer has shown that it is awake. */
const last = 500

export class Patience {
  readonly #awake: () => Promise<unknown>
  readonly #waiting = new Set<() => void>()
  #isEnded = false

  /** `awake` resolves once the peer has read what is sent to it after all else. */
  constructor(awake: () => Promise<unknown>) {
    this.#awake = awake
  }

  /** To be called when there is news. */
  wake(): void {
    for (const resume of this.#waiting) resume()
  }

  end(): void {
    this.#isEnded = true
    this.wake()
  }

  /** Waits until something holds, or nothing has come for so many ms. */
  async until(holds: () => boolean, ms = usual): Promise<void> {
    let isAwake = false
    while (!holds() && !this.#isEnded) {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const resume = () => resolve(true)
      this.#waiting.add(resume)
      const began = performance.now()
      const wait = isAwake ? last : ms
      const timer = setTimeout(() => resolve(false), wait)
      const hasNews = await promise
      clearTimeout(timer)
      this.#waiting.delete(resume)
      if (hasNews) continue
      // What came while this process had to wait is read after its timers.
      await new Promise(resolve => setImmediate(resolve))
      if (performance.now() - began > wait + slack) continue
      if (isAwake) return
      await this.#awake()
      isAwake = true
    }
  }
}
