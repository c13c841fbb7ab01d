// What a person is asked before an app gets a code, and what they can decide. The authorization server and
// the pages exchange these.

import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { Api } from '../../store/records/records.ts'

export type ConsentStep =
  /** It has expired, is finished, belongs to another browser, or its client has dropped the redirect URI. */
  | { readonly kind: 'gone' }
  /** Nothing is left to ask: the browser goes there. */
  | { readonly kind: 'resume'; readonly location: string }
  /** The person signs in and comes back; `isFresh` if the existing session is not enough. */
  | {
      readonly kind: 'sign_in'
      readonly client: OAuthClient
      readonly loginHint: string | null
      readonly isFresh: boolean
    }
  | ConsentRefusal
  | Consent

export interface ConsentRefusal {
  readonly kind: 'refused'
  readonly client: OAuthClient
  readonly person: RequestedUser
  readonly redirectUri: string
  readonly reason: 'not a member' | 'no account' | 'not allowed' | 'no second factor'
}

interface Consent {
  readonly kind: 'consent'
  readonly client: OAuthClient
  readonly person: RequestedUser
  readonly redirectUri: string
  /** The accounts to choose from; empty if the scopes concern no account. */
  readonly accounts: readonly { readonly id: string; readonly name: string }[]
  readonly scopes: readonly RequestedScope[]
  readonly apis: readonly Api[]
  /** The routes that it is for besides, by their URLs. */
  readonly resources: readonly string[]
  /** An existing consent that covers the whole request; null if there is none. */
  readonly remembered: EarlierConsent | null
}

interface RequestedUser {
  readonly user: string
  readonly email: string
}

export interface RequestedScope {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly category: string
  readonly isOptional: boolean
}

interface EarlierConsent {
  readonly account: string
  readonly declined: readonly string[]
  /** Whether it was given for redirects to the same host. */
  readonly isHostSeen: boolean
}

/** `optional`: the optional scopes that the person allows. */
export type Decision =
  | { readonly kind: 'allow'; readonly account: string | null; readonly optional: readonly string[] }
  | { readonly kind: 'deny' }

/** `location`: where the browser goes next. `invalid`: the account cannot be chosen, or no longer. */
export type DecisionResult =
  | { readonly kind: 'resume'; readonly location: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'invalid' }
