// A token made on this machine rather than over the API: at the first start, and by `gatehouse token create`.

import { randomBytes } from 'node:crypto'
import type { Token } from '../store/records.ts'
import { mintToken } from '../tokens/token.ts'

export interface TokenWish {
  readonly account: string
  readonly name: string
  /** Ids of the permission groups. */
  readonly groups: readonly string[]
  /** Ms since the epoch. */
  readonly now: number
  readonly expiresOn?: number | null
}

/** Mints a token for all of its account; the value stands nowhere else. */
export function newToken({ account, name, groups, now, expiresOn = null }: TokenWish): {
  readonly token: Token
  readonly value: string
} {
  const { value, digest } = mintToken()
  const policy = { id: newId(), effect: 'allow', permissionGroups: groups, accounts: [account] } as const
  const token: Token = {
    account,
    id: newId(),
    name,
    digest,
    status: 'active',
    policies: [policy],
    notBefore: null,
    expiresOn,
    addressesIn: [],
    addressesNotIn: [],
    issuedOn: now,
    modifiedOn: now,
  }
  return { token, value }
}

function newId(): string {
  return randomBytes(16).toString('hex')
}
