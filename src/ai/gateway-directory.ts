// Finds the gateway that a call names, with its policies; it stays usable for the grace while the store is
// unreachable.

import { isId } from '../base/ids/id.ts'
import { ownText } from '../base/text/own-text.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Lent } from '../store/cache/cache-handover.ts'
import { ReadThrough } from '../store/cache/read-through.ts'
import { routeOwner } from '../store/records/model-route.ts'
import { commitInEffect, type PolicedGateway, policySetId } from '../store/records/policy.ts'
import type { Account } from '../store/records/records.ts'
import { type MaybeAtOnce, type Store, StoreUnreachable } from '../store/contract/store.ts'

interface DirectoryOptions {
  readonly store: Store
  /** Ms. */
  readonly grace: number
  readonly onLoad?: ((key: string) => void) | undefined
  /** Requests known gateways from other processes; never rejects. */
  readonly borrow?: ((key: string) => Promise<Lent<PolicedGateway> | null>) | undefined
  readonly clock?: Clock
}

type Lookup = PolicedGateway | null | 'store_unreachable'

const size = 10_000
const missLife = 5_000
const gatewayId = /^[a-z0-9_-]{1,64}$/

export class GatewayDirectory {
  readonly #gateways: ReadThrough<PolicedGateway>
  readonly #onlyAccount: ReadThrough<Account>
  #last: { readonly account: string; readonly id: string; readonly key: string } | null = null

  constructor({ store, grace, onLoad, borrow, clock = systemClock }: DirectoryOptions) {
    this.#gateways = new ReadThrough({
      load: key => load(store, key),
      changes: store.changes,
      kinds: ['gateway', 'policy_set'],
      concerns: (change, gateway) =>
        change.kind === 'policy_set'
          ? change.account === routeOwner(gateway)
          : change.id === gateway.id && change.account === gateway.account,
      size,
      missLife,
      grace,
      onLoad,
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

  lend(key: string): Lent<PolicedGateway> | null {
    return this.#gateways.lend(key)
  }

  loans(): Iterable<readonly [key: string, lent: Lent<PolicedGateway>]> {
    return this.#gateways.loans()
  }

  /** Keeps a gateway no longer than the other process would. */
  adopt(key: string, lent: Lent<PolicedGateway>): void {
    this.#gateways.adopt(key, lent)
  }

  find(account: string, id: string): Lookup | Promise<Lookup> {
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

/** Neither is known without the other: a gateway whose policies cannot be read is not found. */
async function load(store: Store, key: string): Promise<PolicedGateway | null> {
  const [account, id] = key.split('/') as [string, string]
  const [gateway, set] = await Promise.all([
    store.gateways.get(account, id),
    store.policySets.get(key, policySetId),
  ])
  if (gateway === null) return null
  const policies = (set === null ? null : commitInEffect(set.record))?.policies ?? []
  return policies.length === 0 ? gateway.record : { ...gateway.record, policies }
}

export function isGatewayId(text: string): boolean {
  return gatewayId.test(text)
}

function unlessUnreachable(error: unknown): 'store_unreachable' {
  if (error instanceof StoreUnreachable) return 'store_unreachable'
  throw error
}
