// What the connections of clients over HTTP/2 spend of their budgets, by address: whoever has many of them, at once or one after the other, and stays below each limit of one, meets
// that of the address.

import { clientKey } from '../../../net/address/client-key.ts'
import { Budgets } from '../../../http2/server/budget.ts'

/** How many clients are remembered. */
const most = 4_096
/** What an address may spend, as a multiple of what a connection may: many people may share it. */
const timesThatOfOne = 4
/** What each connection may have spent for nothing: whoever closes a page that is loading leaves some requests behind. */
const trifle = { resets: 8, controlFrames: 80 }

export class Spending {
  /** The one that was charged last stands last. */
  readonly #byAddress = new Map<string, Budgets>()

  /** Charges a client at monotonic ms `now` with what a connection has spent since it was charged before; names the budget of the address that this exceeds, null for none. */
  charge(peer: string, { resets, controlFrames }: Budgets, now: number): 'resets' | 'control_frames' | null {
    const reset = resets.note(trifle.resets, now)
    const frames = controlFrames.note(trifle.controlFrames, now)
    if (reset === 0 && frames === 0) return null
    const budgets = this.#budgetsOf(clientKey(peer), now)
    if (!budgets.resets.charge(reset, now)) return 'resets'
    return budgets.controlFrames.charge(frames, now) ? null : 'control_frames'
  }

  #budgetsOf(key: string, now: number): Budgets {
    const budgets = this.#byAddress.get(key) ?? new Budgets(now, timesThatOfOne)
    this.#byAddress.delete(key)
    this.#byAddress.set(key, budgets)
    if (this.#byAddress.size > most) this.#byAddress.delete(this.#byAddress.keys().next().value!)
    return budgets
  }
}
