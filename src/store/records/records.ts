// The records as every backend returns them; people, OAuth and zone settings have files of their own. Times are
// ms since the epoch; ids are 32 hex digits unless said otherwise.

/** The owner of gateways, tokens and OAuth clients. */
export interface Account {
  readonly id: string
  readonly name: string
  /** Whether its members must have a second factor; absent for false. */
  readonly enforceTwoFactor?: boolean
  readonly createdAt: number
}

/** An AI gateway: what callers must present, and what is stored of their calls. */
export interface Gateway {
  readonly account: string
  /** Chosen by its owner: 1 to 64 lower-case letters, digits, hyphens and underscores. */
  readonly id: string
  /** Whether a call requires a valid token. */
  readonly authentication: boolean
  /** Whether the bodies of calls are stored with their log entries. */
  readonly collectLogs: boolean
  /** The most log entries that are stored, and what happens at that number. */
  readonly logManagement: number
  readonly logManagementStrategy: LogStrategy
  /** The limit of calls; null where none is set, and absent in records that are older than the setting. */
  readonly rateLimit?: GatewayRateLimit | null
  /** Whether usage is requested for streamed chats whose callers do not; absent, as in older records, means true. */
  readonly streamUsage?: boolean
  readonly createdAt: number
  readonly modifiedAt: number
}

export interface GatewayRateLimit {
  /** 0 is off. */
  readonly limit: number
  readonly interval: number // seconds
  readonly technique: 'fixed' | 'sliding'
  /** What is counted separately: each app (calls by API tokens by token), each token or consent; absent for the gateway as a whole. */
  readonly key?: 'token' | 'app'
}

export type LogStrategy = 'STOP_INSERTING' | 'DELETE_OLDEST'

/** An API token, without its value. */
export interface Token {
  readonly account: string
  readonly id: string
  readonly name: string
  /** SHA-256 of the value, in hex. */
  readonly digest: string
  readonly status: 'active' | 'disabled'
  readonly policies: readonly Policy[]
  /** From when and until when it is valid; null for no limit. */
  readonly notBefore: number | null
  readonly expiresOn: number | null
  /** Client addresses and networks that may use it (empty: all), and those that may not. */
  readonly addressesIn: readonly string[]
  readonly addressesNotIn: readonly string[]
  readonly issuedOn: number
  readonly modifiedOn: number
  /** Whose it is, where a member made it for themselves: it opens AI routes alone, and no more than they may at each use. */
  readonly person?: TokenOwner
  /** Who acts, where it stands for an access token of OAuth; such a token is put together at each lookup and never stored. */
  readonly actor?: Actor
}

/** A member by whom a token was made, with the address at that time. */
export interface TokenOwner {
  readonly user: string
  readonly email: string
  /** Whether the OpenID provider had verified the address; absent for false. */
  readonly isEmailVerified?: boolean
  /** The membership, with which it ends: another one of the same user does not bring it back. */
  readonly member: string
}

/** That a token was used at a time, in ms since the epoch. */
export interface TokenUse extends Pick<Token, 'account' | 'id'> {
  readonly at: number
}

/** An OAuth client and the user for whom it acts, by their ids and names at that time. */
export interface ActingApp {
  readonly user: string
  readonly email: string
  /** Whether the OpenID provider had verified the address; absent for false. */
  readonly isEmailVerified?: boolean
  readonly client: string
  readonly clientName: string
}

/** What an app may do for a user, and by what. */
export interface Actor extends ActingApp {
  readonly grant: string
  /** What ends the token together with others: the digest of their end. */
  readonly end: string | null
  /** What the user is a member by: of the account that was consented to, and of that of the client where only its members may use it. */
  readonly members: readonly string[]
  /** The OAuth scopes that are left of those that the user consented to. */
  readonly scopes: readonly string[]
  /** The APIs that it opens. */
  readonly apis: readonly Api[]
}

/** What a token opens: the API of the side port, or the AI routes of the edge. */
export type Api = 'management' | 'ai'

/** What a token allows, or denies. */
export interface Policy {
  readonly id: string
  readonly effect: 'allow' | 'deny'
  /** Ids of permission groups. */
  readonly permissionGroups: readonly string[]
  /** Accounts, or `*` for all. */
  readonly accounts: readonly string[]
}

/** What somebody did, by the management API, the command line or a page: who, what, when and from where. */
export interface AuditEntry {
  readonly id: string
  readonly account: string
  readonly at: number
  /**
   * The id of the token, user or consent; `command line` for a command that writes to the store directly, `gatehouse` for entries that are dropped. What people do to
   * sign in has `sign-in` and what strangers try `stranger`, before the id of the user: their entries are counted apart, so that they push out no changes.
   */
  readonly actor: string
  /** The name of the token at that time; absent in older entries, and where somebody else acted. */
  readonly actorName?: string
  /** The client's address, empty for a command, and the ray id of the request. */
  readonly address: string
  readonly ray: string
  readonly action: AuditAction
  readonly resourceKind: ResourceKind
  readonly resource: string
  /** What people call the resource, at that time: its name, or the address of a person; absent where it has none, and in older entries. */
  readonly resourceName?: string
  /** The names of the members that were set or changed, as in the API. */
  readonly changed: readonly string[]
  /** What some of these were before and after; absent in older entries. */
  readonly values?: ChangedValues
  /** The app and the user, where an app asked; then `actor` is the id of the consent. */
  readonly app?: ActingApp
  /** How a sign-in was proven, or was not; absent in other entries. */
  readonly proof?: AuditProof
  /** What was dropped of the entries of `resource`, an actor; absent in other entries. */
  readonly dropped?: DroppedEntries
}

/** Values of members as the API has them: none is secret, and all are short. A member that was or became absent is in one of the two. */
export interface ChangedValues {
  readonly before: Readonly<Record<string, unknown>>
  readonly after: Readonly<Record<string, unknown>>
}

/** What somebody showed to prove who they are. */
export interface AuditProof {
  readonly method: ProofMethod
  /** Why it was not good; absent where it was. */
  readonly failure?: ProofFailure
}

export type ProofMethod =
  | 'password'
  | 'openid'
  | 'invitation'
  | 'recovery'
  | 'set_up'
  | 'code'
  | 'recovery_code'

/** `throttled`: too many were wrong before, so that this one was not looked at. */
export type ProofFailure = 'wrong' | 'throttled' | 'other_identity'

/** Audit entries that were dropped to make room, or because they expired. */
export interface DroppedEntries {
  readonly count: number
  /** When the first and the last of them were made. */
  readonly from: number
  readonly to: number
}

type ResourceKind =
  | 'oauth_client'
  | 'gateway'
  | 'token'
  | 'error_rules'
  | 'error_page'
  | 'access_rules'
  | 'audit_entries'
  | 'account'
  | 'user'
  | 'member'
  | 'session'
  | 'oauth_grant'

export type AuditAction =
  | 'create'
  | 'update'
  | 'delete'
  | 'reorder'
  | 'roll'
  | 'rotate_secret'
  | 'delete_rotated_secret'
  | 'delete_logs'
  | 'drop'
  | 'invite'
  | 'accept'
  | 'revoke'
  | 'change_password'
  | 'sign_in'
  | 'second_step'
  | 'confirm'
  | 'sign_out'

/** The response to a request with an Idempotency-Key, stored for repetitions. */
export interface StoredResponse {
  readonly account: string
  /** Of caller, request and Idempotency-Key: SHA-256 in hex. */
  readonly key: string
  /** Of the body: SHA-256 in hex. */
  readonly fingerprint: string
  /** The response, encrypted: it contains a secret. */
  readonly sealed: string
  readonly expiresAt: number
}

/** One AI call that was let in. It never contains a credential. */
export interface LogEntry {
  /** The ray id of the request: 16 hex digits. */
  readonly id: string
  readonly account: string
  readonly gateway: string
  readonly createdAt: number
  readonly provider: string
  /** Null where neither the request nor the response named one. */
  readonly model: string | null
  /** The path at the provider, without query. */
  readonly path: string
  readonly status: number
  /** Whether the provider responded with 2xx, or opened a WebSocket, and the client got all of it. */
  readonly success: boolean
  /** The name of the error record, where the gateway itself responded. */
  readonly error: string | null
  /** Ms. */
  readonly duration: number
  readonly timeToFirstByte: number | null
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  /** Present where tokens were not reported, and are about as many as were sent. */
  readonly usageIsEstimated?: true
  /** US dollars. */
  readonly cost: number | null
  readonly cached: boolean
  readonly authenticated: boolean
  /** The token that made the call, and its name at that time; null where the gateway required none, and in older entries. */
  readonly tokenId: string | null
  readonly tokenName: string | null
  /** The app and the user, where an app made the call; then `tokenId` is the id of the consent. */
  readonly app?: ActingApp
  readonly streamed: boolean
  /** Present where members of the request were left out for the provider, as `messages[].content[].cache_control`. */
  readonly dropped?: readonly string[]
  readonly metadata: Metadata | null
  readonly requestContentType: string | null
  readonly responseContentType: string | null
  readonly request: Payload | null
  /** What the caller got. */
  readonly response: Payload | null
  /** What the provider sent, where it differs: the response was translated, or the gateway requested more than its caller. */
  readonly providerResponse: Payload | null
}

/** A log entry as lists show it. */
export type LogSummary = Omit<LogEntry, 'request' | 'response' | 'providerResponse'>

/** A body as it is stored: only its beginning, where it was too large. */
export interface Payload {
  readonly text: string
  readonly isCut: boolean
  /** Whether the text is base64, since the body is not text, or its coding is unknown; absent for false. */
  readonly isBase64?: true
}

/** The metadata of a call, set by its caller. */
export type Metadata = Readonly<Record<string, string | number | boolean | null>>
