// Limits the changes per token, across all gateways of the store, which bounds its growth and audit log.

import type { Limiter } from '../../limits/limiter.ts'
import { type Limit, limitOf } from '../../limits/limit.ts'
import type { Token } from '../../store/records/records.ts'

interface Rate {
  readonly limit: number
  /** Length of the sliding window, in ms. */
  readonly period: number
}

export class WriteLimit {
  readonly #limiter: Limiter
  readonly #limit: Limit

  constructor(limiter: Limiter, { limit, period }: Rate) {
    this.#limiter = limiter
    this.#limit = limitOf('management writes', limit, { kind: 'sliding', period })
  }

  /** Counts a request; returns the whole seconds to wait if it exceeds the limit, else null. */
  async spend({ account, id }: Pick<Token, 'account' | 'id'>): Promise<number | null> {
    const { isAllowed, wait } = await this.#limiter.spend(this.#limit, `${account}/${id}`)
    return isAllowed ? null : Math.max(1, Math.ceil(wait / 1000))
  }
}
