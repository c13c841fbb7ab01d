// The record of a client, made of its settings.

import { newId } from '../../base/ids/id.ts'
import type { ClientSecret, DomainVerification, OAuthClient } from '../../store/records/oauth-client.ts'

export type ClientSettings = Pick<
  OAuthClient,
  | 'name'
  | 'grantTypes'
  | 'responseTypes'
  | 'tokenEndpointAuthMethod'
  | 'redirectUris'
  | 'postLogoutRedirectUris'
  | 'allowedCorsOrigins'
  | 'scopes'
  | 'optionalScopes'
  | 'logoUri'
  | 'policyUri'
  | 'tosUri'
  | 'clientUri'
>

interface FirstParts {
  readonly secret: ClientSecret | null
  readonly verification: DomainVerification | null
  readonly now: number
}

/** Returns a new, private client of the account. */
export function newClient(
  account: string,
  settings: ClientSettings,
  { secret, verification, now }: FirstParts,
): OAuthClient {
  return {
    ...settings,
    account,
    id: newId(),
    visibility: 'private',
    secrets: secret === null ? [] : [secret],
    verification,
    revision: 1,
    createdAt: now,
    updatedAt: now,
    promotedAt: null,
  }
}

/** Applies changes as the next revision. */
export function revised(client: OAuthClient, changes: Partial<OAuthClient>, now: number): OAuthClient {
  return { ...client, ...changes, updatedAt: now, revision: client.revision + 1 }
}
