// Finds the gateway that a call names; it stays usable for the grace while the store is unreachable.

import { isId } from '../base/ids/id.ts'
import { ownText } from '../base/text/own-text.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Lent } from '../store/cache/cache-handover.ts'
import { ReadThrough } from '../store/cache/read-through.ts'
import type { Account, Gateway } from '../store/records/records.ts'
import { type MaybeAtOnce, type Store, StoreUnreachable } from '../store/contract/store.ts'

interface DirectoryOptions {
  readonly store: Store
  /** Ms. */
  readonly grace: number
  readonly found?: ((key: string) => void) | undefined
  /** Requests known gateways from other processes; never rejects. */
  readonly borrow?: ((key: string) => Promise<Lent<Gateway> | null>) | undefined
  readonly clock?: Clock
}

type Found = Gateway | null | 'store_unreachable'

const size = 10_000
const missLife = 5_000
const gatewayId = /^[a-z0-9_-]{1,64}$/

export class GatewayDirectory {
  readonly #gateways: ReadThrough<Gateway>
  readonly #onlyAccount: ReadThrough<Account>
  #last: { readonly account: string; readonly id: string; readonly key: string } | null = null

  constructor({ store, grace, found, borrow, clock = systemClock }: DirectoryOptions) {
    this.#gateways = new ReadThrough({
      load: async key => {
        const [account, id] = key.split('/') as [string, string]
        return (await store.gateways.get(account, id))?.record ?? null
      },
      changes: store.changes,
      kinds: ['gateway'],
      concerns: (change, { account, id }) => change.id === id && change.account === account,
      size,
      missLife,
      grace,
      found,
      borrow,
      now: () => clock.monotonic(),
    })
    this.#onlyAccount = new ReadThrough({
      load: async () => {
        const [first, second] = await store.accounts.list()
        return first !== undefined && second === undefined ? first : null
      },
      changes: store.changes,
      // Every account begins with a gateway.
      kinds: ['gateway'],
      concerns: ({ account }, { id }) => account !== id,
      size: 1,
      missLife,
      grace,
      now: () => clock.monotonic(),
    })
  }

  /** Returns the account of calls that do not name one; null if there are several, or none. */
  onlyAccount(): MaybeAtOnce<string | null | 'store_unreachable'> {
    const account = this.#onlyAccount.get('')
    return account instanceof Promise
      ? account.then(account => account?.id ?? null, unlessUnreachable)
      : (account?.id ?? null)
  }

  /** Loads a gateway from another process, unless it is cached; rejects with `StoreUnreachable`. */
  recall(key: string): Promise<void> {
    return this.#gateways.recall(key)
  }

  lend(key: string): Lent<Gateway> | null {
    return this.#gateways.lend(key)
  }

  loans(): Iterable<readonly [key: string, lent: Lent<Gateway>]> {
    return this.#gateways.loans()
  }

  /** Keeps a gateway no longer than the other process would. */
  adopt(key: string, lent: Lent<Gateway>): void {
    this.#gateways.adopt(key, lent)
  }

  find(account: string, id: string): Found | Promise<Found> {
    const key = this.#keyOf(account, id)
    if (key === null) return null
    const gateway = this.#gateways.get(key)
    return gateway instanceof Promise ? gateway.catch(unlessUnreachable) : gateway
  }

  #keyOf(account: string, id: string): string | null {
    if (account !== this.#last?.account || id !== this.#last.id) {
      if (!isId(account) || !isGatewayId(id)) return null
      this.#last = { account, id, key: ownText(`${account}/${id}`) }
    }
    return this.#last.key
  }
}

export function isGatewayId(text: string): boolean {
  return gatewayId.test(text)
}

function unlessUnreachable(error: unknown): 'store_unreachable' {
  if (error instanceof StoreUnreachable) return 'store_unreachable'
  throw error
}
