// Events of the authorization server for one OAuth client, stored so that its owner can find out why
// something failed.

/** One step of an authorization, without secrets, codes and tokens; at most 8 K characters of JSON. */
export interface AuthorizationEvent {
  /** 32 hex digits. */
  readonly id: string
  readonly client: string
  readonly clientAccount: string
  /** Ms since the epoch. */
  readonly at: number
  readonly step: AuthorizationStep
  readonly result: 'success' | 'failure'
  /** The OAuth error code of the response, such as `invalid_grant`; null for a success. */
  readonly error: string | null
  /**
   * The exact reason, with the expected and the actual value if that is safe; null if there is nothing to
   * add.
   */
  readonly reason: string | null
  /** The user and the account of the consent, as far as known. */
  readonly user: string | null
  readonly account: string | null
  /** The address of the client, and the ray id of the request; empty if there is none. */
  readonly address: string
  readonly ray: string
  /**
   * Whether anybody who knows the client's id could have caused it: the client did not authenticate, and no
   * consent is known. Such events displace no others.
   */
  readonly isUnproven: boolean
}

export type AuthorizationStep =
  | 'authorization'
  | 'consent'
  | 'token'
  | 'refresh'
  | 'revocation'
  | 'introspection'
  | 'userinfo'
  | 'logout'

/**
 * The maximum numbers of events of a client: in all, unproven ones, and of one user and result, so that no
 * user of an app displaces the events of others; and the lifetime of each, in ms.
 */
export const maxEvents = 200
export const maxUnproven = 100
export const maxOfUser = 20
export const eventLife = 30 * 86_400_000

const maxText = 8 * 1024

export function eventJson(event: AuthorizationEvent): string {
  const json = JSON.stringify(event)
  if (json.length > maxText)
    throw new TypeError(`an authorization event must have ${maxText} characters at most`)
  return json
}
