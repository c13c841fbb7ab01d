// Waiting for a peer that may never do what is awaited: by its news, for as long as it had the processor to send some.

/** Ms without news after which nothing more is awaited. */
const usual = 4_000
/** How much later than planned a timer may fire before the machine must have stood still. */
const slack = 500

export class Patience {
  readonly #waiting = new Set<() => void>()
  #isEnded = false

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
    while (!holds() && !this.#isEnded) {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const resume = () => resolve(true)
      this.#waiting.add(resume)
      const began = performance.now()
      const timer = setTimeout(() => resolve(false), ms)
      const hasNews = await promise
      clearTimeout(timer)
      this.#waiting.delete(resume)
      if (hasNews) continue
      // What came while this process had to wait is read after its timers.
      await new Promise(resolve => setImmediate(resolve))
      if (performance.now() - began < ms + slack) return
    }
  }
}
