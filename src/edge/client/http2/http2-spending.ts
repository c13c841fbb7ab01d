// What HTTP/2 connections spend of their budgets, by address: otherwise many connections, each below its
// limits, would have no limit.

import { clientKey } from '../../../net/address/client-key.ts'
import { Budgets } from '../../../http2/server/budget.ts'

const maxAddresses = 4_096
/** Many people may share an address. */
const addressFactor = 4
/** Closing a page that is still loading resets some requests. */
const freeOfCharge = { resets: 8, controlFrames: 80 }

export class Spending {
  readonly #byAddress = new Map<string, Budgets>()

  /** Charges what a connection has spent since its last charge; names the budget that this exceeds. */
  charge(peer: string, { resets, controlFrames }: Budgets, now: number): 'resets' | 'control_frames' | null {
    const reset = resets.note(freeOfCharge.resets, now)
    const frames = controlFrames.note(freeOfCharge.controlFrames, now)
    if (reset === 0 && frames === 0) return null
    const budgets = this.#budgetsOf(clientKey(peer), now)
    if (!budgets.resets.charge(reset, now)) return 'resets'
    return budgets.controlFrames.charge(frames, now) ? null : 'control_frames'
  }

  #budgetsOf(key: string, now: number): Budgets {
    const budgets = this.#byAddress.get(key) ?? new Budgets(now, addressFactor)
    this.#byAddress.delete(key)
    this.#byAddress.set(key, budgets)
    if (this.#byAddress.size > maxAddresses) this.#byAddress.delete(this.#byAddress.keys().next().value!)
    return budgets
  }
}
