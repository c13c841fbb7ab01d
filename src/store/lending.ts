// What one worker remembers of the store, lent to one beside it that began while the store was away, or had no time to ask. Age goes with it: a loan lives no longer
// than what it is made of, and is refused by who has heard of a change since.

import type { FoundKey } from './found-keys.ts'
import type { Gateway, Token } from './records.ts'

export interface Lent<T> {
  readonly value: T
  /** For how long it has not been known to be right, in ms. */
  readonly age: number
}

export type Loan = Lent<Token | Gateway>

/** Ms in which loans are asked for, and ms that one may take. */
const period = 100
const patience = 250
/** How many are asked for in a period: of keys that another process is known to have found, and of others. */
const mostFound = 1_000
const mostOthers = 100

/** Asks the others for loans. A flood of unknown tokens is not passed on to them, and keeps nobody from what they have found. */
export class Borrower {
  readonly #send: (id: number, found: FoundKey) => void
  readonly #waiting = new Map<number, (loan: Loan | null) => void>()
  #nextId = 0
  #askedFound = 0
  #askedOthers = 0
  #timer: NodeJS.Timeout | null = null

  constructor(send: (id: number, found: FoundKey) => void) {
    this.#send = send
  }

  /** Returns what another worker remembers; null where none does, or none says so within 250 ms. `isFound`: one of them has told that it found the key. */
  ask(found: FoundKey, isFound: boolean): Promise<Loan | null> {
    if (isFound ? this.#askedFound === mostFound : this.#askedOthers === mostOthers)
      return Promise.resolve(null)
    if (isFound) this.#askedFound++
    else this.#askedOthers++
    this.#timer ??= setTimeout(() => this.#beginAnew(), period).unref()
    const id = this.#nextId++
    return new Promise(resolve => {
      const late = setTimeout(() => this.settle(id, null), patience)
      this.#waiting.set(id, loan => {
        clearTimeout(late)
        resolve(loan)
      })
      this.#send(id, found)
    })
  }

  /** Takes the answer; one that comes too late is nobody's. */
  settle(id: number, loan: Loan | null): void {
    this.#waiting.get(id)?.(loan)
    this.#waiting.delete(id)
  }

  #beginAnew(): void {
    this.#timer = null
    this.#askedFound = 0
    this.#askedOthers = 0
  }
}

/** Returns the loan that was known to be right last. */
export function freshest(loans: readonly (Loan | null)[]): Loan | null {
  return loans.reduce(
    (best, loan) => (best === null || (loan !== null && loan.age < best.age) ? loan : best),
    null,
  )
}
