// What the connections of clients over HTTP/2 had spent of their budgets when they closed, by address. A client that connects again and again, and stays below each limit of one
// connection, meets it all the same.

import { clientKey } from '../../base/address/client-key.ts'
import { Budgets } from '../../http2/budget.ts'

/** How many clients are remembered. */
const most = 4_096
/** What each connection may have spent for nothing: whoever closes a page that is loading leaves some requests behind. */
const trifle = { resets: 8, controlFrames: 80 }

/** A budget that is exceeded, by the fault of a connection that exceeds it, and what is left of both. */
export interface Overspent {
  readonly fault: 'resets' | 'control_frames'
  readonly budgets: Budgets
}

export class Spending {
  /** The one that was charged last stands last. */
  readonly #byAddress = new Map<string, Budgets>()

  /** Charges a client with what a connection has spent that closes at monotonic ms `now`; null where the client has as much. */
  charge(peer: string, { resets, controlFrames }: Budgets, now: number): Overspent | null {
    const reset = resets.spent(now)
    const frames = controlFrames.spent(now)
    if (reset < trifle.resets && frames < trifle.controlFrames) return null
    const budgets = this.#budgetsOf(clientKey(peer), now)
    if (!budgets.resets.charge(reset, now)) return { fault: 'resets', budgets }
    if (!budgets.controlFrames.charge(frames, now)) return { fault: 'control_frames', budgets }
    return null
  }

  #budgetsOf(key: string, now: number): Budgets {
    const budgets = this.#byAddress.get(key) ?? new Budgets(now)
    this.#byAddress.delete(key)
    this.#byAddress.set(key, budgets)
    if (this.#byAddress.size > most) this.#byAddress.delete(this.#byAddress.keys().next().value!)
    return budgets
  }
}
