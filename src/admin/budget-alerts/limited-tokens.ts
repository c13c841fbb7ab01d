// The tokens whose budgets have alerts. They are read once, and again only as they change, as an account may
// have many thousands and its budgets are looked at all the time.

import type { Change, Store } from '../../store/contract/store.ts'
import type { Token } from '../../store/records/records.ts'
import { hasAlertedBudgets } from './levels.ts'

interface TokenStore {
  readonly changes: Store['changes']
  readonly tokens: Pick<Store['tokens'], 'get' | 'walk'>
}

interface Account {
  /** By id, the oldest first. */
  readonly tokens: Map<string, Token>
  /** Ids of tokens that changed since they were read. */
  readonly due: Set<string>
}

/** Changed tokens that are read one by one; of more, all are read again. */
const maxDue = 100

export class LimitedTokens {
  readonly #store: TokenStore
  readonly #accounts = new Map<string, Account>()
  #unfollow: (() => void) | null = null

  constructor(store: TokenStore) {
    this.#store = store
  }

  /** Lists them by creation, as far as changes were reported. Call it again only once it settled. */
  async of(account: string): Promise<readonly Token[]> {
    this.#unfollow ??= this.#store.changes.follow(change => this.#note(change))
    let known = this.#accounts.get(account)
    if (known === undefined) {
      known = { tokens: new Map(), due: new Set() }
      // Takes note of changes from here on, so that none is lost on the way.
      this.#accounts.set(account, known)
      await this.#undoneIfFails(account, this.#readAll(account, known))
    }
    await this.#undoneIfFails(account, this.#readDue(account, known))
    return [...known.tokens.values()]
  }

  /** Forgets the tokens of all other accounts. */
  retain(accounts: ReadonlySet<string>): void {
    for (const account of this.#accounts.keys()) if (!accounts.has(account)) this.#accounts.delete(account)
  }

  close(): void {
    this.#unfollow?.()
  }

  #note(change: Change): void {
    if (change.kind === 'everything') return this.#accounts.clear()
    if (change.kind !== 'token') return
    const known = this.#accounts.get(change.account)
    known?.due.add(change.id)
    if (known !== undefined && known.due.size > maxDue) this.#accounts.delete(change.account)
  }

  async #undoneIfFails(account: string, reading: Promise<void>): Promise<void> {
    try {
      await reading
    } catch (failure) {
      this.#accounts.delete(account)
      throw failure
    }
  }

  async #readAll(account: string, { tokens }: Account): Promise<void> {
    for await (const page of this.#store.tokens.walk(account))
      for (const token of page) if (hasAlertedBudgets(token)) tokens.set(token.id, token)
  }

  async #readDue(account: string, { tokens, due }: Account): Promise<void> {
    for (const id of due) {
      // A change that is reported from here on makes it due again.
      due.delete(id)
      const current = await this.#store.tokens.get(account, id)
      if (current !== null && hasAlertedBudgets(current.record)) tokens.set(id, current.record)
      else tokens.delete(id)
    }
  }
}
