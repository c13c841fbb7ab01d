// Clients whose connections of HTTP/2 met a limit on what means nothing: the next ones go on with what those have left, so that nothing is gained by connecting again.

import { clientKey } from '../../base/address/client-key.ts'
import type { Budgets } from '../../http2/budget.ts'

/** Ms for which a client is remembered, and how many are. */
const kept = 60_000
const most = 4_096

interface Offence {
  readonly budgets: Budgets
  /** Monotonic ms. */
  readonly until: number
}

export class Offenders {
  /** The one that was added last stands last. */
  readonly #byAddress = new Map<string, Offence>()

  /** Returns what a client has left at monotonic ms `now`; undefined for one that met no limit lately. */
  budgetsOf(peer: string, now: number): Budgets | undefined {
    if (this.#byAddress.size === 0) return
    const offence = this.#byAddress.get(clientKey(peer))
    return offence !== undefined && now < offence.until ? offence.budgets : undefined
  }

  /** Remembers a client with what it has left. */
  add(peer: string, budgets: Budgets, now: number): void {
    const key = clientKey(peer)
    this.#byAddress.delete(key)
    this.#byAddress.set(key, { budgets, until: now + kept })
    if (this.#byAddress.size > most) this.#byAddress.delete(this.#byAddress.keys().next().value!)
  }
}
