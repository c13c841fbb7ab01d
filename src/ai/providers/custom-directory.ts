// Finds the providers that an account has added; once found they stay usable for the grace while the store is
// unreachable.

import { type Clock, systemClock } from '../../base/clock.ts'
import { ReadThrough } from '../../store/cache/read-through.ts'
import { type Store, StoreUnreachable } from '../../store/contract/store.ts'
import type { CustomProvider } from '../../store/records/custom-provider.ts'

interface CustomDirectoryOptions {
  readonly store: Pick<Store, 'customProviders' | 'changes'>
  /** Ms. */
  readonly grace: number
  readonly clock?: Clock
}

/** Those of an account that are on; another object after each change. */
export interface AccountProviders {
  readonly account: string
  readonly providers: readonly CustomProvider[]
}

type Lookup = AccountProviders | 'store_unreachable'

const size = 1_000
const maxProviders = 100

export class CustomDirectory {
  readonly #accounts: ReadThrough<AccountProviders>
  readonly #changes: Store['changes']

  constructor({ store, grace, clock = systemClock }: CustomDirectoryOptions) {
    this.#changes = store.changes
    this.#accounts = new ReadThrough<AccountProviders>({
      load: async account => {
        const { items } = await store.customProviders.list(account, { offset: 0, limit: maxProviders })
        return { account, providers: items.filter(({ isEnabled }) => isEnabled) }
      },
      changes: store.changes,
      kinds: ['custom_provider'],
      concerns: (change, { account }) => change.account === account,
      size,
      missLife: 0,
      grace,
      now: () => clock.monotonic(),
    })
  }

  /**
   * Reports each account whose providers have changed; null for any number of them. Returns a function that
   * unsubscribes.
   */
  follow(listener: (account: string | null) => void): () => void {
    return this.#changes.follow(change => {
      if (change.kind === 'custom_provider') listener(change.account)
      else if (change.kind === 'everything') listener(null)
    })
  }

  of(account: string): Lookup | Promise<Lookup> {
    const providers = this.#accounts.get(account)
    return providers instanceof Promise
      ? providers.then(providers => providers ?? noneOf(account)).catch(unlessUnreachable)
      : (providers ?? noneOf(account))
  }
}

function noneOf(account: string): AccountProviders {
  return { account, providers: [] }
}

function unlessUnreachable(error: unknown): 'store_unreachable' {
  if (error instanceof StoreUnreachable) return 'store_unreachable'
  throw error
}
