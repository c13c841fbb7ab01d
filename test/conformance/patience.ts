// Waiting for a peer that may never do what is awaited: by its news, for as long as it had the processor to send some.

/** Ms without news after which nothing more is awaited. */
const usual = 4_000
/** How much later than planned a timer may fire before the machine must have stood still. */
const slack = 500

export class Patience {
  #wake: () => void = () => {}
  #isEnded = false

  /** To be called when there is news. */
  wake(): void {
    this.#wake()
  }

  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  /** Waits until something holds, or nothing has come for so many ms. */
  async until(holds: () => boolean, ms = usual): Promise<void> {
    while (!holds() && !this.#isEnded) {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      this.#wake = () => resolve(true)
      const began = performance.now()
      const timer = setTimeout(() => resolve(false), ms)
      const hasNews = await promise
      clearTimeout(timer)
      // Both sides may have been stopped: what came meanwhile is read after the timers.
      if (!hasNews && performance.now() - began < ms + slack) return
    }
  }
}
