// Why the store is not trusted although it responds. While there is a reason, a running gateway serves from
// its caches and confirms no change.

import type { DegradedCode, DegradedReason } from '../../metrics/counters/counts.ts'

/** The current reasons. Each code is set and cleared by the part that detects the fault. */
export class Degradation {
  readonly #reasons = new Map<DegradedCode, DegradedReason>()
  readonly #listeners = new Set<() => void>()

  get reasons(): readonly DegradedReason[] {
    return [...this.#reasons.values()]
  }

  /** Sets what is wrong and how to fix it; null clears the reason. */
  set(code: DegradedCode, words: Omit<DegradedReason, 'code'> | null): void {
    const before = this.#reasons.get(code)
    if (before?.message === words?.message) return
    if (words === null) this.#reasons.delete(code)
    else this.#reasons.set(code, { code, ...words })
    for (const listener of [...this.#listeners]) listener()
  }

  /** Calls back when a reason begins, changes or ends; returns a function that unsubscribes. */
  follow(listener: () => void): () => void {
    const own = () => listener()
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }
}
