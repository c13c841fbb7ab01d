// What an empty store is given at the first start: an account, its gateway `default`, closed to everybody without a token, and one token that may do everything.

import { newId } from '../../base/id.ts'
import type { Gateway } from '../../store/records.ts'
import type { Bootstrap, Store } from '../../store/store.ts'
import { newToken } from '../../tokens/new-token.ts'
import { permissionGroups } from '../../permissions/permission-groups.ts'
import { digestOf } from '../../tokens/token.ts'

/** What is told once, and never again. */
export interface FirstStart {
  readonly account: string
  readonly gateway: string
  /** The value of the token; null where it was given, and whoever gave it has it. */
  readonly token: string | null
}

interface Made {
  readonly bootstrap: Bootstrap
  readonly told: FirstStart
}

/** Fills a store that is empty, and holds on to what it made until that is confirmed: nobody else knows the token. */
export class FirstFill {
  readonly #store: Store
  readonly #given: string | null
  #made: Made | null = null

  /** `given` is the value of the token, well-formed; a new one without it. */
  constructor(store: Store, given: string | null = null) {
    this.#store = store
    this.#given = given
  }

  /** Whether something may have been written that was not confirmed. */
  get isUnconfirmed(): boolean {
    return this.#made !== null
  }

  /** Returns what the store was filled with; null when it was not empty, also when another process was faster. Rejects with `StoreUnreachable`, and is called again then. */
  async run(now: number): Promise<FirstStart | null> {
    const { accounts } = this.#store
    const isEmpty = (await accounts.list()).length === 0
    if (this.#made === null && !isEmpty) return null
    this.#made ??= makeFirst(now, this.#given)
    const { bootstrap, told } = this.#made
    const isNew = isEmpty && (await this.#store.bootstrap(bootstrap))
    const isOurs = isNew || (await accounts.get(bootstrap.account.id)) !== null
    // It is there by a write that was called lost, and may still be.
    if (isOurs && !isNew) await this.#store.confirm()
    this.#made = null
    return isOurs ? told : null
  }
}

function makeFirst(now: number, given: string | null): Made {
  const account = { id: newId(), name: 'default', createdAt: now }
  const everything = {
    effect: 'allow',
    permissionGroups: permissionGroups.map(({ id }) => id),
    accounts: [account.id],
  } as const
  const settings = { name: 'bootstrap', policies: [everything] }
  const minted = given === null ? undefined : { value: given, digest: digestOf(given) }
  const { token, value } = newToken(account.id, settings, now, minted)
  const gateway = defaultGateway(account.id, now)
  return {
    bootstrap: { account, gateway, token },
    told: { account: account.id, gateway: gateway.id, token: given === null ? value : null },
  }
}

function defaultGateway(account: string, now: number): Gateway {
  return {
    account,
    id: 'default',
    authentication: true,
    collectLogs: true,
    logManagement: 100_000,
    logManagementStrategy: 'DELETE_OLDEST',
    createdAt: now,
    modifiedAt: now,
  }
}
