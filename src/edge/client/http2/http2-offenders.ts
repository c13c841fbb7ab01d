// Addresses whose HTTP/2 connections exceeded a limit on empty frames. Reconnecting gains little: the next
// get smaller budgets, and few are accepted at once; some always are, as clients may share an address.

import { clientKey } from '../../../net/address/client-key.ts'
import { Budget, Budgets } from '../../../http2/server/budget.ts'
import { Spending } from './http2-spending.ts'

/** Ms for which a client is remembered after its last penalty, and the number of clients. */
const memory = 60_000
const maxOffences = 4_096

const admissions = 10
const budgetFactor = 0.2
const maxPenaltyFactor = 32

interface Offence {
  readonly admissions: Budget
  /** In ms; the others are monotonic ms: its end, and the time until which it is remembered. */
  penalty: number
  penaltyEnd: number
  rememberedUntil: number
}

export class Offenders {
  readonly #byAddress = new Map<string, Offence>()
  readonly spending = new Spending()

  penalized: (peer: string) => void = () => {}

  /** Undefined for a client without a recent offence. */
  budgetsOf(peer: string, now: number): Budgets | undefined {
    if (this.#byAddress.size === 0) return
    const offence = this.#byAddress.get(clientKey(peer))
    return offence !== undefined && now < offence.rememberedUntil ? new Budgets(now, budgetFactor) : undefined
  }

  get isEmpty(): boolean {
    return this.#byAddress.size === 0
  }

  hasPenalty(peer: string, now: number): boolean {
    return this.#currentPenalty(peer, now) !== undefined
  }

  /** If not refused, a connection counts as one of those accepted despite the penalty. */
  refuses(peer: string, now: number): boolean {
    const offence = this.#currentPenalty(peer, now)
    return offence !== undefined && !offence.admissions.spend(now)
  }

  /** Imposes a penalty of at least `penalty` ms: twice the last one, if that is still remembered. */
  add(peer: string, now: number, penalty: number): void {
    const key = clientKey(peer)
    const former = this.#byAddress.get(key)
    const offence = former !== undefined && now < former.rememberedUntil ? former : unpenalized(now)
    if (penalty > 0) penalize(offence, now, penalty)
    offence.rememberedUntil = Math.max(now, offence.penaltyEnd) + memory
    this.#byAddress.delete(key)
    this.#byAddress.set(key, offence)
    if (this.#byAddress.size > maxOffences) this.#byAddress.delete(this.#byAddress.keys().next().value!)
    if (penalty > 0) this.penalized(peer)
  }

  #currentPenalty(peer: string, now: number): Offence | undefined {
    if (this.#byAddress.size === 0) return
    const offence = this.#byAddress.get(clientKey(peer))
    return offence !== undefined && now < offence.penaltyEnd ? offence : undefined
  }
}

function unpenalized(now: number): Offence {
  const budget = new Budget(admissions, admissions, now)
  return { admissions: budget, penalty: 0, penaltyEnd: 0, rememberedUntil: 0 }
}

/** During a penalty, offences of connections that are already open do not double it. */
function penalize(offence: Offence, now: number, basePenalty: number): void {
  if (now >= offence.penaltyEnd)
    offence.penalty = Math.min(Math.max(basePenalty, 2 * offence.penalty), maxPenaltyFactor * basePenalty)
  offence.penaltyEnd = now + offence.penalty
}
