// The records as every backend returns them. Times are ms since the epoch; ids are 32 hex digits by default.

import type { SpendLimits } from './budget-rule.ts'

export interface Account {
  readonly id: string
  readonly name: string
  /** Whether members must have a second factor; absent for false. */
  readonly enforceTwoFactor?: boolean
  /** Whether apps that are known by a document alone may act in it; absent for false. */
  readonly allowsDocumentClients?: boolean
  readonly createdAt: number
}

/** An AI gateway: what callers must present, and what is stored of their calls. */
export interface Gateway {
  readonly account: string
  /** Chosen by its owner: 1 to 64 lower-case letters, digits, hyphens and underscores. */
  readonly id: string
  readonly authentication: boolean
  /** Whether the bodies of calls are stored with their log entries. */
  readonly collectLogs: boolean
  /** The maximum number of stored log entries, and what happens when it is reached. */
  readonly logManagement: number
  readonly logManagementStrategy: LogStrategy
  /** The limit of calls; null for none, and absent in records that are older than the setting. */
  readonly rateLimit?: GatewayRateLimit | null
  /**
   * Whether usage is requested for streamed chats whose callers do not request it; absent, as in older
   * records, means true.
   */
  readonly streamUsage?: boolean
  /** Whether the provider of a call may finish when its caller leaves; absent means that it is cut off. */
  readonly onAbandon?: 'abort' | 'drain'
  /** Further attempts at a model that callers name themselves; null or absent for none. */
  readonly retry?: GatewayRetry | null
  /** Whether calls may use only keys of their callers and of `providerConfigs`; absent for false. */
  readonly byokOnly?: boolean
  /** Keys of providers, which come before those of the configuration; absent for none. */
  readonly providerConfigs?: readonly ProviderKey[]
  /** What calls may spend; null or absent for no limits. */
  readonly spendLimits?: SpendLimits | null
  /** The output tokens of calls that name no maximum, while a limit governs them; absent for 4096. */
  readonly defaultMaxTokens?: number
  /**
   * What a call to a model without a price costs, in USD; null or absent: such calls are refused while a
   * limit of the cost governs them.
   */
  readonly unpricedCost?: number | null
  /** Seconds for which responses to calls are reused; 0 or absent for none but at the wish of a caller. */
  readonly cacheTtl?: number
  /** Whether a change of these settings ends that for all responses before it; absent for false. */
  readonly isCacheInvalidatedOnUpdate?: boolean
  /** Whose calls reuse the same responses; absent for `token`. */
  readonly cacheScope?: CacheScope
  /** What is looked for in calls; null or absent for nothing. */
  readonly guard?: Guard | null
  /** Whether a call with an Idempotency-Key is made once; absent for false. */
  readonly hasIdempotencyKeys?: boolean
  /** Responses stored until then (ms since the epoch) are not reused; absent if none were deleted. */
  readonly answersSince?: number
  readonly createdAt: number
  readonly modifiedAt: number
}

/**
 * Whose calls reuse the same responses: those of one token, or of one user of an OAuth client; of one OAuth
 * client with all its users, or of one API token; or all calls of the gateway.
 */
export type CacheScope = 'token' | 'app' | 'shared'
export type GuardCheck = 'request' | 'response'

/** `flag` only notes what was found, `redact` replaces it, `block` refuses the call. */
export type GuardAction = 'flag' | 'redact' | 'block'

export interface GuardRule {
  readonly id: string
  readonly isEnabled: boolean
  readonly action: GuardAction
  readonly checks: readonly GuardCheck[]
  /** Names of patterns. */
  readonly patterns: readonly string[]
}

export interface Guard {
  readonly isEnabled: boolean
  readonly rules: readonly GuardRule[]
  /** Asked about what the rules let pass; null or absent for none. */
  readonly webhook?: GuardWebhook | null
}

export interface GuardWebhook {
  readonly url: string
  /** What it is asked about. */
  readonly checks: readonly GuardCheck[]
  /** Ms for a verdict. */
  readonly timeout: number
  /** The secret that signs questions, sealed for its gateway. */
  readonly sealed: string
}

/** What the guard found in a call, without what it is. */
export interface GuardFinding {
  readonly check: GuardCheck
  /** Of the pattern, `webhook` with what it names, or `unreadable` for what could not be looked at. */
  readonly name: string
  readonly action: GuardAction
  readonly count: number
}

/** Null where it is not known. */
export interface SavedUse {
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  /** US dollars. */
  readonly cost: number | null
}

/** The key of a provider that a gateway has of its own. */
export interface ProviderKey {
  readonly id: string
  /** As callers name the provider. */
  readonly provider: string
  readonly alias: string
  /** Whether calls use it that name no alias. */
  readonly isDefault: boolean
  /** Sealed for its gateway, id and provider. */
  readonly sealed: string
  /** The last 4 characters. */
  readonly end: string
  /** The hour of the latest call with it; absent before the first. */
  readonly usedAt?: number
  readonly modifiedAt: number
}

/** Null for what is left to the default. */
export interface GatewayRetry {
  readonly maxAttempts: number | null
  /** Ms. */
  readonly delay: number | null
  readonly backoff: 'constant' | 'linear' | 'exponential' | null
}

export interface GatewayRateLimit {
  /** 0 is off. */
  readonly limit: number
  readonly interval: number // seconds
  readonly technique: 'fixed' | 'sliding'
  /**
   * What has a count of its own: each app (for calls with API tokens, each token), or each token or consent;
   * absent for the gateway as a whole.
   */
  readonly key?: 'token' | 'app'
}

export type LogStrategy = 'STOP_INSERTING' | 'DELETE_OLDEST'

/** Patterns in which `*` stands for any text; absent for no limit. */
export interface TokenLimits {
  readonly gateways?: readonly string[]
  /** As the log names them, `provider/model`, or the names of aliases and `dynamic/NAME`. */
  readonly models?: readonly string[]
}

export interface Token extends TokenLimits {
  readonly account: string
  readonly id: string
  readonly name: string
  /** SHA-256 of the value, in hex. */
  readonly digest: string
  readonly status: 'active' | 'disabled'
  readonly policies: readonly Policy[]
  /** The period of validity; null for no limit. */
  readonly notBefore: number | null
  readonly expiresOn: number | null
  /** Client addresses and networks that may use it (empty: all), and those that may not. */
  readonly addressesIn: readonly string[]
  readonly addressesNotIn: readonly string[]
  /** What its calls may spend, without partitions; absent for no limits. */
  readonly spendLimits?: SpendLimits
  readonly issuedOn: number
  readonly modifiedOn: number
  /**
   * The owner, if a member made it for themselves: it opens only AI routes, and at each use no more than its
   * owner may use.
   */
  readonly person?: TokenOwner
  /**
   * The app and user, if it represents an OAuth access token; such a token is composed at each lookup and
   * never stored.
   */
  readonly actor?: Actor
}

/** The member who made a token, with their address at that time. */
export interface TokenOwner {
  readonly user: string
  readonly email: string
  /** Whether the OpenID provider had verified the address; absent for false. */
  readonly isEmailVerified?: boolean
  /** The membership, with which the token ends: a new membership of the same user does not revive it. */
  readonly member: string
}

/** A use of a token at a time, in ms since the epoch. */
export interface TokenUse extends Pick<Token, 'account' | 'id'> {
  readonly at: number
}

/** An OAuth client and the user for whom it acts, with their names at that time. */
export interface ActingApp {
  readonly user: string
  readonly email: string
  /** Whether the OpenID provider had verified the address; absent for false. */
  readonly isEmailVerified?: boolean
  readonly client: string
  readonly clientName: string
}

/** An app that acts for a user, with its rights and their basis. */
export interface Actor extends ActingApp {
  /** The `client_id`, where that is the URL of a document; absent where it is `client`. */
  readonly clientUrl?: string
  readonly grant: string
  /** The digest of the end of its family, with which the token ends; null for none. */
  readonly end: string | null
  /**
   * The user's memberships that it depends on: in the account of the consent, and in that of the client if
   * only its members may use it.
   */
  readonly members: readonly string[]
  /** The remaining OAuth scopes of those that the user consented to. */
  readonly scopes: readonly string[]
  readonly apis: readonly Api[]
  /** The resource indicators of what else it opens; absent for none. */
  readonly resources?: readonly string[]
  /** Those of the user in any account, as gates judge by them; present together with `resources`. */
  readonly memberships?: readonly Membership[]
}

/** An accepted membership of a user who has the second factor that its account requires. */
export interface Membership {
  readonly account: string
  /** Their ids. */
  readonly roles: readonly string[]
}

/** What a token opens: the API of the side port, or the AI routes of the edge. */
export type Api = 'management' | 'ai'

/** A permission that a token has, or is denied. */
export interface Policy {
  readonly id: string
  readonly effect: 'allow' | 'deny'
  /** Ids of permission groups. */
  readonly permissionGroups: readonly string[]
  /** Accounts, or `*` for all. */
  readonly accounts: readonly string[]
}

/** An action by the management API, the command line or a page: who, what, when and from where. */
export interface AuditEntry {
  readonly id: string
  readonly account: string
  readonly at: number
  /**
   * The id of the token, user or consent, `command line`, or `gatehouse` for entries about dropped ones. The
   * prefixes `sign-in` and `stranger` count those entries apart, so that they displace no changes.
   */
  readonly actor: string
  /** The name of the token at that time; absent in older entries, and for other actors. */
  readonly actorName?: string
  readonly address: string
  readonly ray: string
  readonly action: AuditAction
  readonly resourceKind: ResourceKind
  readonly resource: string
  readonly resourceName?: string
  /** The names of the members that were set or changed, as in the API. */
  readonly changed: readonly string[]
  /** Some of their values before and after; absent in older entries. */
  readonly values?: ChangedValues
  /** The app and the user, if an app made the request; `actor` is then the id of the consent. */
  readonly app?: ActingApp
  /** The proof of a sign-in, successful or not; absent in other entries. */
  readonly proof?: AuditProof
  /** The dropped entries of `resource`, an actor; absent in other entries. */
  readonly dropped?: DroppedEntries
}

/**
 * Values of members as in the API: none is secret, and all are short. A member that was or became absent is
 * in only one of the two.
 */
export interface ChangedValues {
  readonly before: Readonly<Record<string, unknown>>
  readonly after: Readonly<Record<string, unknown>>
}

/** The proof of identity that somebody presented. */
export interface AuditProof {
  readonly method: ProofMethod
  /** Why it was rejected; absent if it was not. */
  readonly failure?: ProofFailure
}

export type ProofMethod =
  | 'password'
  | 'passkey'
  | 'openid'
  | 'invitation'
  | 'recovery'
  | 'set_up'
  | 'code'
  | 'recovery_code'

/**
 * `throttled`: not checked, because of too many wrong ones before. `old_counter`: by a passkey whose
 * signature counter went back, so that there may be a copy of it.
 */
export type ProofFailure = 'wrong' | 'throttled' | 'other_identity' | 'old_counter'

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
  | 'dynamic_route'
  | 'policies'
  | 'provider_config'
  | 'custom_provider'
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
  | 'deploy'
  | 'roll'
  | 'rotate_secret'
  | 'delete_rotated_secret'
  | 'delete_logs'
  | 'delete_responses'
  | 'reset'
  | 'drop'
  | 'invite'
  | 'accept'
  | 'revoke'
  | 'change_password'
  | 'sign_in'
  | 'second_step'
  | 'confirm'
  | 'sign_out'

export interface StoredResponse {
  readonly account: string
  /** SHA-256 of caller, request and Idempotency-Key, in hex. */
  readonly key: string
  /** SHA-256 of the body, in hex. */
  readonly fingerprint: string
  /** The response, encrypted, since it contains a secret. */
  readonly sealed: string
  readonly expiresAt: number
}

/** An admitted AI call. It never contains a credential. */
export interface LogEntry {
  /** The ray id of the request: 16 hex digits. */
  readonly id: string
  readonly account: string
  readonly gateway: string
  readonly createdAt: number
  readonly provider: string
  /** Null if neither the request nor the response named one. */
  readonly model: string | null
  readonly path: string
  readonly status: number
  /** Whether the provider responded with 2xx, or opened a WebSocket, and the client received everything. */
  readonly success: boolean
  /** The name of the error record, if the gateway itself responded. */
  readonly error: string | null
  /** Ms. */
  readonly duration: number
  readonly timeToFirstByte: number | null
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  /** Present if the provider did not report tokens, so that they are estimated from what was sent. */
  readonly usageIsEstimated?: true
  readonly cost: number | null
  /** Present if the caller named the cost or the price. */
  readonly hasCustomCost?: true
  /** Absent in older entries. */
  readonly attempts?: readonly LedgerAttempt[]
  /** The number of the entry of its model route that responded; absent for 0. */
  readonly step?: number
  /** What its caller calls the event that it belongs to. */
  readonly eventId?: string
  /** What somebody thinks of the response; absent for no opinion. */
  readonly feedback?: Feedback
  /** From 0 to 100; absent for none. */
  readonly score?: number
  readonly cached: boolean
  readonly authenticated: boolean
  /**
   * The token of the call, and its name at that time; null if the gateway required none, and in older
   * entries.
   */
  readonly tokenId: string | null
  readonly tokenName: string | null
  /** The app and the user, if an app made the call; `tokenId` is then the id of the consent. */
  readonly app?: ActingApp
  readonly streamed: boolean
  /**
   * Members of the request that were removed for the provider, such as `messages[].content[].cache_control`;
   * absent if none.
   */
  readonly dropped?: readonly string[]
  /** What the guard found, and did about it; absent for nothing. */
  readonly findings?: readonly GuardFinding[]
  /** What the call would have taken if its response were not that of an earlier one; absent for others. */
  readonly saved?: SavedUse
  readonly metadata: Metadata | null
  readonly requestContentType: string | null
  readonly responseContentType: string | null
  readonly request: Payload | null
  /** What the caller received. */
  readonly response: Payload | null
  /**
   * What the provider sent, if it differs because the response was translated, or the gateway requested more
   * than its caller.
   */
  readonly providerResponse: Payload | null
}

/** One attempt at a call; a ledger is sent between processes as data. */
export interface LedgerAttempt {
  readonly provider: string
  readonly model: string | null
  /**
   * `ok`, `http_` with the status of the provider, the name of the error record if it did not respond,
   * `stream_error` for a stream that began with an error, or `client_left`.
   */
  readonly outcome: string
  /** Ms until its first content, or until it failed. */
  readonly duration: number
}

export type Feedback = -1 | 0 | 1

export type LogSummary = Omit<LogEntry, 'request' | 'response' | 'providerResponse'>

/** A stored body, truncated if it was too large. */
export interface Payload {
  readonly text: string
  readonly isCut: boolean
  /**
   * Whether the text is base64, because the body is not text or its content coding is unknown; absent for
   * false.
   */
  readonly isBase64?: true
}

/** The metadata of a call, set by its caller. */
export type Metadata = Readonly<Record<string, string | number | boolean | null>>
