// What happened at the authorization server for one OAuth client, kept so that its owner finds out why something failed.

/** One step of an authorization. Never has a secret, a code or a token in it; at most 8 K characters as JSON. */
export interface AuthorizationEvent {
  /** 32 hex digits. */
  readonly id: string
  readonly client: string
  /** The account that owns the client. */
  readonly clientAccount: string
  /** Ms since the epoch. */
  readonly at: number
  readonly step: AuthorizationStep
  readonly result: 'success' | 'failure'
  /** The error code of OAuth that was answered, such as `invalid_grant`; null for a success. */
  readonly error: string | null
  /** The exact reason, with both sides where that is safe; null where there is nothing to say. */
  readonly reason: string | null
  /** The user and the account of the consent, as far as known. */
  readonly user: string | null
  readonly account: string | null
  /** The address of who asked, and the ray id of the request; empty where there is none. */
  readonly address: string
  readonly ray: string
  /** Whether anybody could have caused it who knows the client's id: the client did not authenticate, and no consent is known. Such events push out no others. */
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
 * How many events of a client are kept, and of those that are unproven beside; how many of these of one user and result, so that no user of an app pushes out what others did;
 * and each for how long, in ms.
 */
export const mostEvents = 200
export const mostUnproven = 100
export const mostOfUser = 20
export const eventLife = 30 * 86_400_000

const mostText = 8 * 1024

/** Returns an event as JSON; throws where it is too large to be kept. */
export function eventJson(event: AuthorizationEvent): string {
  const json = JSON.stringify(event)
  if (json.length > mostText)
    throw new TypeError(`an authorization event must have ${mostText} characters at most`)
  return json
}
