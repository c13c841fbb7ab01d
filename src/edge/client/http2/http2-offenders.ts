// Addresses whose HTTP/2 connections exceeded a limit on frames that carry nothing. Their next connections get smaller
// budgets, so reconnecting gains little, and for a while only a few are accepted at once, so a flood of them costs
// little. Some always are, since many clients may share an address.

import { clientKey } from '../../../net/address/client-key.ts'
import { Budget, Budgets } from '../../../http2/server/budget.ts'
import { Spending } from './http2-spending.ts'

/** Ms for which a client is remembered once its last connection has offended and its penalty is over, and how many are. */
const kept = 60_000
const most = 4_096

/** Connections of a client that are taken in spite of its penalty, at once and a second. */
const admissions = 10
/** What the next connections may do that means nothing, as a part of what others may. */
const partOfThatOfOthers = 0.2
/** How often a penalty can have doubled, as a factor. */
const longest = 32

interface Offence {
  readonly admissions: Budget
  /** The last penalty and its end, and until when it is remembered; ms, monotonic. */
  penalty: number
  penaltyEnd: number
  until: number
}

export class Offenders {
  /** The one that was added last stands last. */
  readonly #byAddress = new Map<string, Offence>()
  readonly spending = new Spending()

  /** Hears of each client that gets a penalty, or goes on with what it got one for. */
  penalized: (peer: string) => void = () => {}

  /** Returns what a connection of a client may do that begins at monotonic ms `now`; undefined for a client that met no limit lately. */
  budgetsOf(peer: string, now: number): Budgets | undefined {
    if (this.#byAddress.size === 0) return
    const offence = this.#byAddress.get(clientKey(peer))
    return offence !== undefined && now < offence.until ? new Budgets(now, partOfThatOfOthers) : undefined
  }

  /** Whether nobody has met a limit lately. */
  get isEmpty(): boolean {
    return this.#byAddress.size === 0
  }

  /** Whether a client has a penalty at monotonic ms `now`. */
  penalizes(peer: string, now: number): boolean {
    return this.#penalized(peer, now) !== undefined
  }

  /** Whether a new connection of a client has to wait at monotonic ms `now`; where it does not, it counts as one of the few that are taken. */
  refuses(peer: string, now: number): boolean {
    const offence = this.#penalized(peer, now)
    return offence !== undefined && !offence.admissions.spend(now)
  }

  /** Remembers a client, and imposes a penalty of so many ms on it, 0 for none: twice the last one where that is over but not forgotten. */
  add(peer: string, now: number, penalty: number): void {
    const key = clientKey(peer)
    const before = this.#byAddress.get(key)
    const offence = before !== undefined && now < before.until ? before : unpenalized(now)
    if (penalty > 0) penalize(offence, now, penalty)
    offence.until = Math.max(now, offence.penaltyEnd) + kept
    this.#byAddress.delete(key)
    this.#byAddress.set(key, offence)
    if (this.#byAddress.size > most) this.#byAddress.delete(this.#byAddress.keys().next().value!)
    if (penalty > 0) this.penalized(peer)
  }

  #penalized(peer: string, now: number): Offence | undefined {
    if (this.#byAddress.size === 0) return
    const offence = this.#byAddress.get(clientKey(peer))
    return offence !== undefined && now < offence.penaltyEnd ? offence : undefined
  }
}

function unpenalized(now: number): Offence {
  const taken = new Budget(admissions, admissions, now)
  return { admissions: taken, penalty: 0, penaltyEnd: 0, until: 0 }
}

/** Begins a penalty, or has the one of now last as long again: what a client does with connections that it has already counts once. */
function penalize(offence: Offence, now: number, least: number): void {
  if (now >= offence.penaltyEnd)
    offence.penalty = Math.min(Math.max(least, 2 * offence.penalty), longest * least)
  offence.penaltyEnd = now + offence.penalty
}
