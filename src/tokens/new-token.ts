// The record of a token, from what it is to be. The management API makes them, the first start and `gatehouse token create`.

import { newId } from '../base/id.ts'
import type { Policy, Token } from '../store/records.ts'
import { mintToken } from './token.ts'

/** What can be set on a token; without limits it is valid for ever and from everywhere. */
export interface TokenSettings
  extends Pick<Token, 'name'>,
    Partial<Pick<Token, 'notBefore' | 'expiresOn' | 'addressesIn' | 'addressesNotIn'>> {
  readonly policies: readonly Omit<Policy, 'id'>[]
}

/** Makes an active token of the account, of a new value unless one is given; the value stands nowhere else. */
export function newToken(
  account: string,
  settings: TokenSettings,
  now: number,
  { value, digest } = mintToken(),
): { readonly token: Token; readonly value: string } {
  const identity = { account, id: newId(), digest, status: 'active', issuedOn: now } as const
  return { token: withSettings(identity, settings, now), value }
}

/** Puts settings in place of all those of a token; what is left out is no limit any more. */
export function withSettings(
  { account, id, digest, status, issuedOn }: Pick<Token, 'account' | 'id' | 'digest' | 'status' | 'issuedOn'>,
  { name, policies, notBefore, expiresOn, addressesIn, addressesNotIn }: TokenSettings,
  now: number,
): Token {
  return {
    account,
    id,
    name,
    digest,
    status,
    policies: policies.map(policy => ({ id: newId(), ...policy })),
    notBefore: notBefore ?? null,
    expiresOn: expiresOn ?? null,
    addressesIn: addressesIn ?? [],
    addressesNotIn: addressesNotIn ?? [],
    issuedOn,
    modifiedOn: now,
  }
}
