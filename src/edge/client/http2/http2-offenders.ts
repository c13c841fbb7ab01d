// Addresses whose HTTP/2 connections exceeded a limit on frames that carry nothing. Their next connections get smaller
// budgets, so reconnecting gains little, and for a while only a few are accepted at once, so a flood of them costs
// little. Some always are, since many clients may share an address.

import { clientKey } from '../../../net/address/client-key.ts'
import { Budget, Budgets } from '../../../http2/server/budget.ts'
import { Spending } from './http2-spending.ts'

/** Ms for which a client is remembered after its last offence and penalty, and the number of clients. */
const memory = 60_000
const maxOffences = 4_096

/** Connections of a penalised client that are accepted at once, and per second. */
const admissions = 10
/** The budgets of its next connections, as a fraction of the usual ones. */
const budgetFactor = 0.2
/** The largest penalty, as a multiple of the first. */
const maxPenaltyFactor = 32

interface Offence {
  readonly admissions: Budget
  /**
   * The last penalty in ms; the others are monotonic ms: its end, and the time until which it is remembered.
   */
  penalty: number
  penaltyEnd: number
  rememberedUntil: number
}

export class Offenders {
  /** In order of the last offence. */
  readonly #byAddress = new Map<string, Offence>()
  readonly spending = new Spending()

  /** Called for each client whose penalty begins or is extended. */
  penalized: (peer: string) => void = () => {}

  /**
   * Returns the budgets of a connection that begins at monotonic ms `now`; undefined for a client without a
   * recent offence.
   */
  budgetsOf(peer: string, now: number): Budgets | undefined {
    if (this.#byAddress.size === 0) return
    const offence = this.#byAddress.get(clientKey(peer))
    return offence !== undefined && now < offence.rememberedUntil ? new Budgets(now, budgetFactor) : undefined
  }

  get isEmpty(): boolean {
    return this.#byAddress.size === 0
  }

  /** Whether a client has a penalty at monotonic ms `now`. */
  hasPenalty(peer: string, now: number): boolean {
    return this.#currentPenalty(peer, now) !== undefined
  }

  /**
   * Whether a new connection of a client is refused at monotonic ms `now`; if not, it counts as one of those
   * accepted despite the penalty.
   */
  refuses(peer: string, now: number): boolean {
    const offence = this.#currentPenalty(peer, now)
    return offence !== undefined && !offence.admissions.spend(now)
  }

  /**
   * Remembers a client, and imposes a penalty of at least so many ms, 0 for none: twice the last one, if that
   * has ended but is still remembered.
   */
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

/**
 * Starts or extends a penalty. During one, offences of connections that are already open do not double it.
 */
function penalize(offence: Offence, now: number, basePenalty: number): void {
  if (now >= offence.penaltyEnd)
    offence.penalty = Math.min(Math.max(basePenalty, 2 * offence.penalty), maxPenaltyFactor * basePenalty)
  offence.penaltyEnd = now + offence.penalty
}
