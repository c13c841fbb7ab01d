// The workers' shares in common connection limits. A grant always follows the release by another worker.

import {
  evenShare,
  type MovedShare,
  type ShareClaim,
  type ShareRequest,
} from '../../edge/accept/connection-share.ts'

export interface ShareHolder {
  readonly slot: number
  /** Rejects when the worker ends. */
  claim(claim: ShareClaim): Promise<number>
  grant(key: string, count: number): void
}

/** What slots have beyond their even parts of a limit, and what is in transit; adds up to 0. */
interface Account {
  readonly moved: number[]
  pool: number
}

const maxIdle = 16

export class ShareLedger {
  readonly #workers: number
  readonly #timeout: number
  readonly #accounts = new Map<string, Account>()
  readonly #holders = new Map<number, ShareHolder>()

  constructor(workers: number, timeout: number) {
    this.#workers = workers
    this.#timeout = timeout
  }

  join(holder: ShareHolder): readonly MovedShare[] {
    this.#holders.set(holder.slot, holder)
    const moved = [...this.#accounts].map(([key, { moved }]) => [key, moved[holder.slot]!] as const)
    return moved.filter(([, count]) => count !== 0)
  }

  leave(holder: ShareHolder): void {
    const { slot } = holder
    if (this.#holders.get(slot) !== holder) return
    this.#holders.delete(slot)
    for (const [key, account] of this.#accounts) {
      const surplus = Math.max(0, account.moved[slot]!)
      account.moved[slot]! -= surplus
      account.pool += surplus
      this.#even(key, account)
    }
  }

  async request(by: ShareHolder, { key, limit, count, closing }: ShareRequest): Promise<void> {
    this.#claimVacant(this.#account(key), limit)
    const others = [...this.#holders.values()].filter(holder => holder !== by)
    if (!closing && this.#account(key).pool === 0) await this.#claim(others, { key, what: 'half', count })
    const idle: ShareClaim = { key, what: 'idle', count: Math.min(count, maxIdle) }
    // One after the other, so that no more connections are closed than necessary.
    if (closing)
      for (const holder of others) if (this.#account(key).pool === 0) await this.#claim([holder], idle)
    const account = this.#account(key)
    if (this.#holders.get(by.slot) === by) this.#grant(key, account, by.slot, account.pool)
    this.#even(key, account)
  }

  async settle(): Promise<void> {
    const settled = [...this.#accounts].map(async ([key, { moved }]) => {
      const rich = [...this.#holders.values()].filter(({ slot }) => moved[slot]! > 0)
      await this.#claim(rich, { key, what: 'surplus', count: 0 })
      this.#even(key, this.#account(key))
    })
    await Promise.all(settled)
  }

  /** Resolves when all have replied, or are late. */
  async #claim(from: readonly ShareHolder[], claim: ShareClaim): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, this.#timeout)
    await Promise.race([Promise.all(from.map(holder => this.#claimFrom(holder, claim))), late])
    clearTimeout(timer)
  }

  async #claimFrom(holder: ShareHolder, claim: ShareClaim): Promise<void> {
    const left = await holder.claim(claim).catch(() => 0)
    if (this.#holders.get(holder.slot) !== holder) return
    const account = this.#account(claim.key)
    account.moved[holder.slot]! -= left
    account.pool += left
  }

  #claimVacant(account: Account, limit: number): void {
    for (const [slot, moved] of account.moved.entries()) {
      if (this.#holders.has(slot)) continue
      const left = Math.ceil(Math.max(0, evenShare(limit, this.#workers, slot) + moved) / 2)
      account.moved[slot]! -= left
      account.pool += left
    }
  }

  #even(key: string, account: Account): void {
    for (const [slot, moved] of account.moved.entries())
      if (moved < 0 && account.pool > 0) this.#grant(key, account, slot, Math.min(-moved, account.pool))
    if (account.pool === 0 && account.moved.every(count => count === 0)) this.#accounts.delete(key)
  }

  #grant(key: string, account: Account, slot: number, count: number): void {
    account.pool -= count
    account.moved[slot]! += count
    this.#holders.get(slot)?.grant(key, count)
  }

  #account(key: string): Account {
    const existing = this.#accounts.get(key)
    if (existing !== undefined) return existing
    const account: Account = { moved: new Array<number>(this.#workers).fill(0), pool: 0 }
    this.#accounts.set(key, account)
    return account
  }
}
