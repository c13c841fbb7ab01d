// What a person is asked before an app gets a code, and what they can decide: what the authorization server and the pages tell each other.

import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { Api } from '../../store/records/records.ts'

/** What to show. */
export type Asking =
  /** It has expired, is finished, belongs to another browser, or leads where its client does not want people to go any more. */
  | { readonly kind: 'gone' }
  /** Nothing is left to ask: go there. */
  | { readonly kind: 'resume'; readonly location: string }
  /** Sign in, and come back; `isFresh` where the session that there is does not do. */
  | {
      readonly kind: 'sign_in'
      readonly client: OAuthClient
      readonly loginHint: string | null
      readonly isFresh: boolean
    }
  | Refused
  | Consent

/** This person cannot let the app in. */
export interface Refused {
  readonly kind: 'refused'
  readonly client: OAuthClient
  readonly person: AskedPerson
  readonly redirectUri: string
  readonly reason: 'not a member' | 'no account' | 'no second factor'
}

interface Consent {
  readonly kind: 'consent'
  readonly client: OAuthClient
  readonly person: AskedPerson
  /** Where the code goes. */
  readonly redirectUri: string
  /** Where the person may choose; none where what is asked for belongs to no account. */
  readonly accounts: readonly { readonly id: string; readonly name: string }[]
  readonly scopes: readonly AskedScope[]
  /** Where the scopes are good. */
  readonly apis: readonly Api[]
  /** The consent that covers all of it, where the person gave one before. */
  readonly remembered: Remembered | null
}

interface AskedPerson {
  /** Their id. */
  readonly user: string
  readonly email: string
}

export interface AskedScope {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly category: string
  readonly isOptional: boolean
}

interface Remembered {
  readonly account: string
  /** Optional scopes that were unticked. */
  readonly declined: readonly string[]
  /** Whether it was given for redirects to the same host. */
  readonly isHostSeen: boolean
}

/** `optional`: those of the optional scopes that stay ticked. */
export type Decision =
  | { readonly kind: 'allow'; readonly account: string | null; readonly optional: readonly string[] }
  | { readonly kind: 'deny' }

/** `location`: where the browser goes on. `invalid`: the account cannot be chosen (any more). */
export type Finished =
  | { readonly kind: 'resume'; readonly location: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'invalid' }
