// Removes stored responses to AI calls that have expired, or that no gateway has any more.

import type { Logger } from '../../log/log.ts'
import { type Store, StoreUnreachable } from '../../store/contract/store.ts'

interface AnswerKeeperOptions {
  readonly store: Pick<Store, 'answers'>
  readonly log: Logger
  /** The most bytes that all accounts may store together. */
  readonly maxBytes: () => number
}

/** Ms between two sweeps. */
const period = 600_000

export class AnswerKeeper {
  readonly #options: AnswerKeeperOptions
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(options: AnswerKeeperOptions) {
    this.#options = options
  }

  start(): void {
    this.#work = this.#sweep().then(() => {
      if (!this.#isClosed) this.#timer = setTimeout(() => this.start(), period).unref()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#work
  }

  async #sweep(): Promise<void> {
    const { store, log, maxBytes } = this.#options
    try {
      await store.answers.sweep(maxBytes())
    } catch (err) {
      // The next sweep finds the same.
      if (!(err instanceof StoreUnreachable)) log.error({ err }, 'removing expired AI responses failed')
    }
  }
}
