// The record of a client, from what it is to be. The management API makes and changes them.

import { newId } from '../../base/ids/id.ts'
import type { ClientSecret, DomainVerification, OAuthClient } from '../../store/records/oauth-client.ts'

/** What its owner decides; all of it is valid already. */
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
  /** Null where the method is `none`. */
  readonly secret: ClientSecret | null
  /** Null without a `clientUri`. */
  readonly verification: DomainVerification | null
  readonly now: number
}

/** Makes a private client of the account. */
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

/** Changes what is named and nothing else, as the next revision. */
export function revised(client: OAuthClient, changes: Partial<OAuthClient>, now: number): OAuthClient {
  return { ...client, ...changes, updatedAt: now, revision: client.revision + 1 }
}
