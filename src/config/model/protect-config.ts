// Who may pass a route: any of several gates lets a request in.

import type { PermissionName } from './permission-names.ts'

/** Algorithms of signatures that are checked without a secret (RFC 7518, RFC 8037, RFC 9864). */
export const jwtAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const
export type JwtAlgorithm = (typeof jwtAlgorithms)[number]

/** A token of an issuer of the operator's (RFC 7519), in Authorization. */
export interface JwtGateConfig {
  readonly kind: 'jwt'
  readonly issuer: string // as it is in iss
  readonly audiences: readonly string[] // one of them is in aud
  readonly keys: string // the URL of the key set
  readonly ca: string | null // PEM of authorities that the connection trusts besides those of Node
  readonly networks: readonly string[] // where the key set may be, beside public addresses
  readonly algorithms: readonly JwtAlgorithm[]
  readonly condition: string | null // CEL, a bool, over the claims
  readonly fields: readonly ClaimField[] // that origins get
  readonly forwardToken: boolean
}

/** A request field that has the value of a claim; clients cannot set it. */
export interface ClaimField {
  readonly name: string // as it will be sent
  readonly claim: string
}

/** An outside authorizer, which is asked about each request. */
export interface ForwardGateConfig {
  readonly kind: 'forward'
  readonly url: string
  readonly ca: string | null // PEM of authorities that the connection trusts besides those of Node
  readonly networks: readonly string[] // where it may be, beside public addresses
  readonly timeout: number // ms for its whole response
  readonly concurrency: number // questions of a process at a time
  readonly send: readonly string[] // the request fields that it gets, in lower case
  readonly copy: readonly string[] // the response fields that origins get
}

/** A token of this gateway, in Authorization. */
export interface TokenGateConfig {
  readonly kind: 'token'
  readonly accepts: AcceptedApiToken | AcceptedAccessToken
  readonly fields: readonly ClaimField[]
  readonly endsOpen: boolean // whether what is open ends with the token
}

/** An API token. */
interface AcceptedApiToken {
  readonly permission: PermissionName
  readonly account: string // in which the token must have the permission
}

/** An access token that was issued for the route. */
interface AcceptedAccessToken {
  readonly scopes: readonly string[] // of which the token must have all
  readonly server: string | null // the OAuth client that may introspect tokens for the route
  readonly account: string | null // in which the roles of people count; null: in none
}

/** A person who has signed in at our pages; all that is set must be true of them. */
export interface SignInGateConfig {
  readonly kind: 'sign_in'
  readonly accounts: readonly string[] // a member of one of them; empty: anyone
  readonly roles: readonly RoleName[] // one of them in such an account; empty: any
  readonly domains: readonly string[] // of the verified e-mail address, in lower case; empty: any address
  readonly condition: string | null // CEL, a bool, over the claims
  readonly fields: readonly ClaimField[] // that origins get
  readonly endsOpen: boolean // whether what is open ends with the session
}

/** By which gates and people know the roles of members. */
export const roleNames = [
  'Super Administrator - All Privileges',
  'Administrator',
  'OAuth Client Write',
  'AI Gateway Admin',
  'Administrator Read Only',
] as const
export type RoleName = (typeof roleNames)[number]

export type GateConfig = JwtGateConfig | ForwardGateConfig | TokenGateConfig | SignInGateConfig

/** svc-identity for the origins of a zone: a token that says who a gate let in. */
export interface IdentityConfig {
  readonly issuer: string // its iss
  readonly audience: string // its aud: the name of the zone
  readonly claims: readonly string[] // of the subject, as the token has them too
}

/** The gates in the order in which they are tried; at least one. */
export type ProtectConfig = readonly GateConfig[]

/** Whether people may pass who sign in at our pages. */
export function hasSignIn({ protect }: { readonly protect: ProtectConfig | null }): boolean {
  return protect?.some(({ kind }) => kind === 'sign_in') ?? false
}
