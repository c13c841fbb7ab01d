// Timers that leap: whoever waits does not, and the test learns for how long it would have. For SDKs that wait between their attempts.

import type { TestContext } from 'node:test'

interface Pending {
  readonly run: () => void
  readonly at: number
}

/** Turns of the event loop without news after which nobody is at work. */
const QUIET_TURNS = 100

export class LeapingTimers {
  readonly #pending = new Map<number, Pending>()
  /** Requests that were sent by fetch. */
  requests = 0
  #now = 0
  #lastId = 0
  #atWork = 0
  #turns = 0

  /** Takes the place of the global timers, and counts the requests that `fetch` has under way. */
  constructor(t: TestContext) {
    const { setTimeout, clearTimeout, fetch } = globalThis
    const set = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
      const id = ++this.#lastId
      this.#pending.set(id, { run: () => run(...args), at: this.#now + ms })
      return { [Symbol.toPrimitive]: () => id, unref() {}, ref() {}, hasRef: () => true }
    }
    const clear = (timer: unknown) => void this.#pending.delete(Number(timer))
    const counted = async (...request: Parameters<typeof fetch>) => {
      this.requests++
      this.#atWork++
      try {
        return await fetch(...request)
      } finally {
        this.#atWork--
        this.#turns = 0
      }
    }
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear, fetch: counted })
    // What an SDK adds to its waits by chance.
    t.mock.method(Math, 'random', () => 0.5)
    t.after(() => Object.assign(globalThis, { setTimeout, clearTimeout, fetch }))
  }

  /** Waits for what was begun, leaps over every wait, and returns the seconds that they would have taken. */
  async secondsOf(begun: Promise<unknown>): Promise<number> {
    const from = this.#now
    let isOver = false
    const over = () => {
      isOver = true
    }
    begun.then(over, over)
    for (this.#turns = 0; !isOver; ) {
      await new Promise(setImmediate)
      if (this.#atWork === 0 && ++this.#turns > QUIET_TURNS) this.#leap()
    }
    return (this.#now - from) / 1000
  }

  #leap(): void {
    this.#turns = 0
    const [next] = [...this.#pending].toSorted(([, a], [, b]) => a.at - b.at)
    if (next === undefined) return
    const [id, { run, at }] = next
    this.#pending.delete(id)
    this.#now = Math.max(this.#now, at)
    run()
  }
}
