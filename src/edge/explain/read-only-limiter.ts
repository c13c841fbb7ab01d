// A limiter that counts nothing, and records what each limit was asked.

import type { Spent } from '../../limits/key-count.ts'
import type { Limit } from '../../limits/limit.ts'
import type { Counting, Limiter } from '../../limits/limiter.ts'

export interface LimitQuery {
  readonly limit: Limit
  readonly key: string
  spent: Spent | null
}

export class ReadOnlyLimiter implements Counting {
  readonly queries: LimitQuery[] = []
  readonly #limiter: Limiter

  constructor(limiter: Limiter) {
    this.#limiter = limiter
  }

  spend(limit: Limit, key: string, now?: number): Spent | Promise<Spent> {
    const query: LimitQuery = { limit, key, spent: null }
    this.queries.push(query)
    const note = (spent: Spent) => (query.spent = spent)
    const spent = this.#limiter.peek(limit, key, now)
    return spent instanceof Promise ? spent.then(note) : note(spent)
  }

  giveBack(): void {}
}
