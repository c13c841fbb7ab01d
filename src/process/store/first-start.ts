// Fills an empty store: an account with its gateway, a token with all permissions, and the key of tags.

import type { Bootstrap, Store } from '../../store/contract/store.ts'
import type { TokenKey } from '../../store/records/token-key.ts'
import { newToken } from '../../tokens/new-token.ts'
import { permissionGroups } from '../../permissions/permission-groups.ts'
import { digestOf, type Minted, mintToken } from '../../tokens/token.ts'
import { newTokenKey, taggerOfKey } from '../../tokens/token-tags.ts'
import { newAccount } from './new-account.ts'

export interface FirstStart {
  readonly account: string
  readonly gateway: string
  /** Null if the operator provided it. */
  readonly token: string | null
}

interface Keyed {
  readonly tokenKey: TokenKey
  readonly minted: Minted
}

interface Made {
  readonly bootstrap: Bootstrap
  readonly result: FirstStart
}

/** Fills an empty store, and retains what it created, such as the token, until that is confirmed. */
export class FirstFill {
  readonly #store: Store
  readonly #given: string | null
  #made: Made | null = null

  /** `given` is the well-formed value of the token. */
  constructor(store: Store, given: string | null = null) {
    this.#store = store
    this.#given = given
  }

  get isUnconfirmed(): boolean {
    return this.#made !== null
  }

  /** Returns null when the store was not empty; may be called again after `StoreUnreachable`. */
  async run(now: number): Promise<FirstStart | null> {
    const { accounts } = this.#store
    const isEmpty = (await accounts.list()).length === 0
    if (this.#made === null && !isEmpty) return null
    this.#made ??= makeFirst(now, this.#given)
    const { bootstrap, result } = this.#made
    const isNew = isEmpty && (await this.#store.bootstrap(bootstrap))
    const isOurs = isNew || (await accounts.get(bootstrap.account.id)) !== null
    // It comes from a write that seemed lost, and may still be.
    if (isOurs && !isNew) await this.#store.confirm()
    this.#made = null
    return isOurs ? result : null
  }
}

function makeFirst(now: number, given: string | null): Made {
  const { account, gateway } = newAccount('default', now)
  const everything = {
    effect: 'allow',
    permissionGroups: permissionGroups.map(({ id }) => id),
    accounts: [account.id],
  } as const
  const settings = { name: 'bootstrap', policies: [everything] }
  const { tokenKey, minted } = given === null ? keyAndToken(now) : keyFor(given, now)
  const { token, value } = newToken(account.id, settings, now, minted)
  return {
    bootstrap: { account, gateway, token, tokenKey },
    result: { account: account.id, gateway: gateway.id, token: given === null ? value : null },
  }
}

function keyAndToken(now: number): Keyed {
  const tokenKey = newTokenKey(now)
  return { tokenKey, minted: mintToken('svct_', taggerOfKey(tokenKey)) }
}

function keyFor(given: string, now: number): Keyed {
  const digest = digestOf(given)
  return { tokenKey: newTokenKey(now, [digest]), minted: { value: given, digest } }
}
