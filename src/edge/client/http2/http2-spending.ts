// What HTTP/2 connections spend of their budgets, by address: a client with many connections, concurrent or
// successive, that stays below the limits of each still meets those of its address.

import { clientKey } from '../../../net/address/client-key.ts'
import { Budgets } from '../../../http2/server/budget.ts'

const maxAddresses = 4_096
/** The budgets of an address, as a multiple of those of a connection: many people may share it. */
const addressFactor = 4
/**
 * What each connection may spend free of charge: closing a page that is still loading resets some requests.
 */
const freeOfCharge = { resets: 8, controlFrames: 80 }

export class Spending {
  /** In order of the last charge. */
  readonly #byAddress = new Map<string, Budgets>()

  /**
   * Charges an address at monotonic ms `now` with what a connection has spent since its last charge; names
   * the budget that this exceeds, null for none.
   */
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
