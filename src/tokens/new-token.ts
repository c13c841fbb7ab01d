// Builds the record of a token from its settings.

import { newId } from '../base/ids/id.ts'
import type { Policy, Token, TokenLimits, TokenOwner } from '../store/records/records.ts'
import type { Minted } from './token.ts'

/** Without limits, a token never expires, and is valid from every address, for every gateway and model. */
export interface TokenSettings
  extends Pick<Token, 'name'>,
    Partial<Pick<Token, 'notBefore' | 'expiresOn' | 'addressesIn' | 'addressesNotIn' | 'spendLimits'>>,
    TokenLimits {
  readonly policies: readonly Omit<Policy, 'id'>[]
}

type Identity = Pick<Token, 'account' | 'id' | 'digest' | 'status' | 'issuedOn' | 'person'>

export function newToken(
  account: string,
  settings: TokenSettings,
  now: number,
  { value, digest }: Minted,
  person?: TokenOwner,
): { readonly token: Token; readonly value: string } {
  const identity = {
    account,
    id: newId(),
    digest,
    status: 'active',
    issuedOn: now,
    ...(person && { person }),
  } as const
  return { token: withSettings(identity, settings, now), value }
}

/** Replaces all settings of a token; omitted limits are removed. */
export function withSettings(
  { account, id, digest, status, issuedOn, person }: Identity,
  {
    name,
    policies,
    notBefore,
    expiresOn,
    addressesIn,
    addressesNotIn,
    gateways,
    models,
    spendLimits,
  }: TokenSettings,
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
    ...(gateways && { gateways }),
    ...(models && { models }),
    ...(spendLimits && { spendLimits }),
    issuedOn,
    modifiedOn: now,
    ...(person && { person }),
  }
}
