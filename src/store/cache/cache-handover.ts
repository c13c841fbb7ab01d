// Lends the cached records of one worker to another that started while the store was unreachable, or has not
// loaded them yet. A loan keeps its age: it expires with the original, and a worker that has seen a change
// since refuses it.

import type { AnnouncedKey } from './announced-keys.ts'
import type { Gateway, Token } from '../records/records.ts'

export interface Lent<T> {
  readonly value: T
  /** Time since it was last known to be current, in ms. */
  readonly age: number
}

export type Loan = Lent<Token | Gateway>

export interface LentRecord {
  readonly found: AnnouncedKey
  readonly loan: Loan
}

/** The period in which requests for loans are counted, and the timeout of one, both in ms. */
const period = 100
const timeout = 250
/** The maximum requests in a period: for keys that another process has announced, and for others. */
const maxAnnounced = 1_000
const maxOthers = 100

/** Requests loans of workers: floods of unknown tokens neither reach these nor delay announced keys. */
export class Borrower {
  readonly #send: (id: number, announced: AnnouncedKey) => void
  readonly #waiting = new Map<number, (loan: Loan | null) => void>()
  #nextId = 0
  #announcedRequests = 0
  #otherRequests = 0
  #timer: NodeJS.Timeout | null = null

  constructor(send: (id: number, announced: AnnouncedKey) => void) {
    this.#send = send
  }

  /**
   * Returns what another worker has cached; null after 250 ms. `isAnnounced`: one of them announced the key.
   */
  ask(announced: AnnouncedKey, isAnnounced: boolean): Promise<Loan | null> {
    if (isAnnounced ? this.#announcedRequests === maxAnnounced : this.#otherRequests === maxOthers)
      return Promise.resolve(null)
    if (isAnnounced) this.#announcedRequests++
    else this.#otherRequests++
    this.#timer ??= setTimeout(() => this.#beginAnew(), period).unref()
    const id = this.#nextId++
    return new Promise(resolve => {
      const late = setTimeout(() => this.settle(id, null), timeout)
      this.#waiting.set(id, loan => {
        clearTimeout(late)
        resolve(loan)
      })
      this.#send(id, announced)
    })
  }

  /** Handles a reply; a late one is ignored. */
  settle(id: number, loan: Loan | null): void {
    this.#waiting.get(id)?.(loan)
    this.#waiting.delete(id)
  }

  #beginAnew(): void {
    this.#timer = null
    this.#announcedRequests = 0
    this.#otherRequests = 0
  }
}

/** Returns the loan that was known to be current most recently. */
export function freshest(loans: readonly (Loan | null)[]): Loan | null {
  return loans.reduce(
    (best, loan) => (best === null || (loan !== null && loan.age < best.age) ? loan : best),
    null,
  )
}
