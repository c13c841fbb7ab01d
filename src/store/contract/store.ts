// The contract of the store, against which one suite tests both backends.

import type { Answers, Claims } from './answers.ts'
import type { Budgets } from './budgets.ts'
import type { AcmeAccount, HostCertificate } from '../records/acme.ts'
import type { AuthorizationEvent } from '../records/authorization-event.ts'
import type { DegradedReason } from '../../metrics/counters/counts.ts'
import type { Degradation } from './degradation.ts'
import type { Mark, Seen } from './mark.ts'
import type {
  Consumption,
  Credential,
  CredentialKind,
  CredentialOwner,
  Exchange,
  Exchanged,
} from '../records/credential.ts'
import type { LogBatch } from '../log-batch/batch.ts'
import type { Cells, Grouping } from '../log-sums/cells.ts'
import type { ClientSearch, OAuthClient } from '../records/oauth-client.ts'
import type { ModelRoute } from '../records/model-route.ts'
import type { CustomProvider } from '../records/custom-provider.ts'
import type { OAuthGrant } from '../records/oauth-grant.ts'
import type { Identity, Member, User } from '../records/people.ts'
import type { BudgetAlertSet } from '../records/budget-alerts.ts'
import type { PolicySet } from '../records/policy.ts'
import type {
  Account,
  AuditEntry,
  DroppedEntries,
  Gateway,
  StoredResponse,
  Feedback,
  LogEntry,
  LogStrategy,
  LogSummary,
  Metadata,
  Token,
  TokenUse,
} from '../records/records.ts'
import type { SigningKey } from '../records/signing-key.ts'
import type { TicketKey } from '../records/ticket-key.ts'
import type { Occurrence, Tally, TallyKind, TallySum } from '../records/tally.ts'
import type { StoreNote } from '../records/store-note.ts'
import type { TokenKey } from '../records/token-key.ts'
import type { AccessRuleList, ErrorPage, ErrorRuleList } from '../records/zone-lists.ts'

/**
 * Everything that is stored. Methods reject with `StoreUnreachable` at the latest after the command timeout;
 * the outcome of a write is then unknown, unless stated otherwise. Writes that wait for a locked file may
 * take longer, and reject with `StoreBusy` if nothing was written. A write that resolved survives kill -9,
 * and a power cut unless `durability` says otherwise.
 */
export interface Store {
  /** The location, without credentials. */
  readonly location: string
  /** Whether the backend is currently unreachable; commands then fail at once. */
  readonly isUnreachable: boolean
  /** Why it refuses writes, or does not confirm them; null while it does, as far as known. */
  readonly refusal: string | null
  /** The code of why changes by others are not reported at once; null if they are. */
  readonly deafness: string | null
  /**
   * Why the store is not trusted although it responds; changes of records then reject with `StoreDegraded`.
   */
  readonly degradation: Degradation
  /** Device and inode of each open file; null in memory and on servers. */
  readonly openFiles: string | null
  /**
   * What the store must contain; until it does, records reject with `StoreDegraded` and no changes are
   * reported.
   */
  readonly trust: StoreTrust
  readonly accounts: Accounts
  /** Removing a gateway removes its log entries, model routes, policies and budget alerts, and soon its
   * answers. */
  readonly gateways: Gateways
  readonly modelRoutes: ModelRoutes
  /** There is one set per gateway; `insert` returns false for a gateway that does not exist. */
  readonly policySets: Records<PolicySet>
  /** Likewise one record per gateway. */
  readonly budgetAlertSets: Records<BudgetAlertSet>
  readonly customProviders: Records<CustomProvider>
  readonly tokens: Tokens
  readonly oauthClients: OAuthClients
  /** Owned by `everybody`. */
  readonly users: Users
  readonly members: Members
  readonly credentials: Credentials
  readonly oauthGrants: OAuthGrants
  readonly authorizationEvents: AuthorizationEvents
  /** Owned by one of `keyOwners`. */
  readonly signingKeys: Records<SigningKey>
  /** Both owned by `acmeOwner`. */
  readonly acmeAccounts: Records<AcmeAccount>
  readonly certificates: Records<HostCertificate>
  /** Owned by `ticketOwner`. */
  readonly ticketKeys: Records<TicketKey>
  /** Owned by `tokenKeyOwner`; there is one. */
  readonly tokenKeys: Records<TokenKey>
  /** Notes about the store itself, owned by `noteOwner`. */
  readonly notes: Records<StoreNote>
  /** API settings of zones, owned by `zoneOwner`. */
  readonly errorRules: Records<ErrorRuleList>
  readonly accessRules: Records<AccessRuleList>
  readonly errorPages: Records<ErrorPage>
  readonly responses: StoredResponses
  readonly audit: AuditLog
  readonly logs: Logs
  readonly counters: Counters
  readonly budgets: Budgets
  readonly answers: Answers
  readonly claims: Claims
  readonly tallies: Tallies
  readonly peers: Peers | null
  readonly changes: Changes
  /** Returns the mark, trusted or not; null if the store contains no data of the gateway. */
  mark(): Promise<Mark | null>
  /** Sets an identity if there is none, and returns the mark. Of concurrent callers, one wins. */
  adopt(): Promise<Seen>
  /**
   * Takes over the identity of a store whose records were all copied to this one, with a generation no lower
   * than its own; with `before`, only if that is the current identity.
   */
  continueAs(mark: Seen, before?: string): Promise<void>
  /**
   * Stores the four records of a first start together; false if an account exists. Of concurrent callers, one
   * wins. Replaces an existing token key.
   */
  bootstrap(first: Bootstrap): Promise<boolean>
  /**
   * Resolves when everything visible is durable. A write that seemed lost may have succeeded, so callers that
   * report its absence call this first.
   */
  confirm(): Promise<void>
  /** Returns sentences about what this backend can lose, or is known to have lost; empty if nothing. */
  durability(): Promise<readonly string[]>
  /** Returns sentences about which rights the user lacks and how to grant them; empty if none. */
  rights(): Promise<readonly string[]>
  /** Bytes, for a server including other data on it; null if unknown. */
  size(): Promise<number | null>
  close(): Promise<void>
}

export interface StoreTrust {
  /** The mark that the store must include; null if nothing is expected yet. */
  readonly seen: Seen | null
  /** Whether something was missing when the store was last read. */
  readonly isDoubted: boolean
  /** Sets the expected mark, replacing the previous one. */
  expect(seen: Seen): void
  join(other: Seen): void
  /** Calls back when the expected mark changes. */
  follow(listener: () => void): void
}

export interface Bootstrap {
  readonly account: Account
  readonly gateway: Gateway
  readonly token: Token
  readonly tokenKey: TokenKey
}

export interface Accounts {
  get(id: string): Promise<Account | null>
  /** Returns all accounts by creation. */
  list(): Promise<readonly Account[]>
  /** Returns the id of the oldest account, in constant time; null if there are none. */
  oldest(): Promise<string | null>
  /** False, and nothing written, if the id is taken. */
  insert(account: Account, beginning?: Beginning): Promise<boolean>
  /** Sets the given members in one step; false if there is no such account, or the response key is taken. */
  update(id: string, settings: AccountSettings, together?: Together): Promise<boolean>
}

export interface Beginning {
  readonly gateway: Gateway
  readonly audit: AuditEntry
}

export type AccountSettings = Partial<Pick<Account, 'name' | 'enforceTwoFactor' | 'allowsDocumentClients'>>

/**
 * A value that an in-process backend returns without waiting. Functions that return it never throw; failures
 * are rejected promises.
 */
export type MaybeAtOnce<T> = T | Promise<T>

/** Records of one kind, each owned by an account. */
export interface Records<T> {
  get(account: string, id: string): Promise<Versioned<T> | null>
  /** Returns a page of an account's records, by creation and then id; `total` counts all of them. */
  list(account: string, page: Page): Promise<Listing<T>>
  /**
   * Yields records in the order of `list` or in reverse. A record that exists throughout is yielded exactly
   * once.
   */
  walk(account: string, from?: WalkStart): AsyncIterable<readonly T[]>
  /** False if the id or the key of the stored response is taken. */
  insert(record: T, together?: Together): Promise<boolean>
  /**
   * Replaces the version that the caller read; false if it is no longer current, or the response key is
   * taken.
   */
  replace(record: T, version: number, together?: Together): Promise<boolean>
  /** False if there is no such record or version, or the response key is taken. */
  remove(account: string, id: string, together?: Together, version?: number): Promise<boolean>
}

/** Entries written together with a record, all or none. */
export interface Together {
  readonly audit?: AuditEntry
  readonly response?: StoredResponse
}

/**
 * E-mail addresses and identities are unique, byte by byte: `insert` and `replace` return false for a
 * duplicate, and of concurrent writers one wins. Removing a user removes nothing else.
 */
export interface Users extends Records<User> {
  findByEmail(email: string): Promise<Versioned<User> | null>
  findByIdentity(identity: Identity): Promise<Versioned<User> | null>
  /** Returns the users with these ids, yielding to other work in between; unknown ids are skipped. */
  withIds(ids: readonly string[]): Promise<readonly User[]>
}

/**
 * A user is a member of an account at most once: `insert` and `replace` of a second membership return false.
 * `replace` and `remove` reject with `LastSuperAdministrator` if they would remove the last accepted super
 * administrator of an account, even with concurrent writers.
 */
export interface Members extends Records<Member> {
  find(account: string, user: string): Promise<Versioned<Member> | null>
  /** Returns the memberships of a user in all accounts, by creation and then id: the first 1,000. */
  ofUser(user: string): Promise<readonly Member[]>
}

/**
 * Sessions, links, codes and tokens, by kind and the digest of their value, which is never stored. By the
 * clock of the store, an expired credential does not exist. Writes are as durable as those of records.
 * Removals are reported as changes, but puts and consumptions are not: consumable credentials must not be
 * cached.
 */
export interface Credentials {
  get(kind: CredentialKind, digest: string): MaybeAtOnce<Credential | null>
  /**
   * Stores or replaces a credential; an existing `consumedAt` stays unless it is null. With `present` it only
   * replaces one that exists and is not consumed, and otherwise returns false.
   */
  put(credential: Credential, when?: 'always' | 'present'): Promise<boolean>
  /** Stores all of these as `put` does, together or not at all. */
  putAll(credentials: readonly Credential[]): Promise<void>
  /**
   * Consumes a credential at a time (ms since the epoch); null if there is none. Of concurrent calls exactly
   * one is the first, and the others get its time. The credential stays until it expires.
   */
  consume(kind: CredentialKind, digest: string, at: number): Promise<Consumption | null>
  /**
   * Consumes a credential and stores those issued in exchange, in one durable write. Of concurrent exchanges
   * only the first succeeds; a later one ends the whole family. Within its grace period, a credential can be
   * exchanged again as long as the refresh token issued for it is unused; that refresh token and its access
   * token then end, so that a family never has two chains.
   */
  exchange(exchange: Exchange): Promise<Exchanged>
  /**
   * Stores the end of a family and reports it as a change of the `account` `ended_family` with its digest as
   * `id`. Costs one durable write.
   */
  endFamily(end: Credential): Promise<void>
  /** Whether the end with this digest is stored, as current as records are. */
  hasEnded(digest: string): Promise<boolean>
  remove(kind: CredentialKind, digest: string): Promise<boolean>
  /**
   * Removes an owner's credentials, of all kinds or the given ones, in durable steps, and returns their
   * number. Covers all put before the call, and those put while one of them still existed.
   */
  removeOf(owner: CredentialOwner, kinds?: readonly CredentialKind[]): Promise<number>
  /** Returns up to `limit` credentials of one kind and owner, those with the latest expiry first. */
  list(owner: CredentialOwner, kind: CredentialKind, limit: number): Promise<readonly Credential[]>
}

/**
 * There is at most one grant with `redirectHosts` per user, client, account and list of resources: `insert`
 * and `replace` of a second one return false.
 */
export interface OAuthGrants extends Records<OAuthGrant> {
  find(party: GrantParty): Promise<Versioned<OAuthGrant> | null>
  /** Returns a page of the grants of a user, or for a client, in all accounts, by creation and then id. */
  ofUser(user: string, page: Page): Promise<Listing<OAuthGrant>>
  ofClient(client: string, page: Page): Promise<Listing<OAuthGrant>>
  count(): Promise<number>
}

/**
 * The last 200 events of each client, in the order of arrival, each kept for 30 days. As durable as records.
 */
export interface AuthorizationEvents {
  /**
   * Appends an event and drops the client's oldest beyond 200, unproven ones beyond 100, and those of the
   * same user and result beyond 20. Rejects with `TypeError` if its JSON exceeds 8 K characters.
   */
  append(event: AuthorizationEvent): Promise<void>
  /** Returns the events of a client of an account, newest first. */
  list(clientAccount: string, client: string): Promise<readonly AuthorizationEvent[]>
  removeOf(client: string): Promise<void>
}

export type GrantParty = Pick<OAuthGrant, 'user' | 'client' | 'account' | 'resource'>

export interface Gateways extends Records<Gateway> {
  /** Returns a page of an account's gateways whose id contains a text, without reading other records. */
  search(account: string, text: string, page: Page): Promise<Listing<Gateway>>
}

/**
 * Names are unique within a gateway, byte by byte: `insert` and `replace` return false for a duplicate, and
 * `insert` does for a gateway that does not exist.
 */
export interface ModelRoutes extends Records<ModelRoute> {
  find(owner: string, name: string): Promise<Versioned<ModelRoute> | null>
}

export interface OAuthClients extends Records<OAuthClient> {
  /** Finds a client by its id, whatever account owns it. */
  find(id: string): Promise<OAuthClient | null>
  /** Returns a page of an account's clients that match a search by name, without reading other records. */
  search(account: string, search: ClientSearch, page: Page): Promise<Listing<OAuthClient>>
  /**
   * Returns up to `limit` clients whose `verification.nextCheckAt` has passed, the longest due first, each to
   * only one caller; again after `lease` ms, or once a changed `nextCheckAt` has passed.
   */
  claimDue(limit: number, lease: number): Promise<readonly Versioned<OAuthClient>[]>
  /** Extends leases to `lease` ms from now, unless the due time has changed. */
  renewLeases(clients: readonly OAuthClient[], lease: number): Promise<void>
}

/**
 * Stored responses to requests with an Idempotency-Key, written together with the records that they concern.
 */
export interface StoredResponses {
  get(account: string, key: string): Promise<StoredResponse | null>
}

/** The audit entries of accounts, kept until they are trimmed. */
export interface AuditLog {
  /** Returns a page by time and then id, of the entries from `since` up to but not at `before`. */
  list(account: string, query: AuditQuery): Promise<Listing<AuditEntry>>
  /** Appends an entry unless its id exists; those of writes are written with them. */
  append(entry: AuditEntry): Promise<void>
  /**
   * Removes the entries older than the limit, and the oldest of each actor beyond its maximum. In the same
   * step as a removal, writes the entry that `tell` makes of it, with a higher count as more are removed;
   * returns those entries.
   */
  trim(account: string, limit: AuditLimit, tell: DropTeller): Promise<readonly AuditEntry[]>
}

export interface AuditLimit {
  /** Ms since the epoch: older entries are removed. */
  readonly before: number
  /** Returns the maximum number of entries of an actor. */
  readonly maxOf: (actor: string) => number
}

/**
 * Makes the entry that reports the dropped entries of an actor; its id is always the same for the same actor.
 */
export type DropTeller = (actor: string, dropped: DroppedEntries) => AuditEntry | null

export interface AuditQuery extends Page {
  readonly since: number | null
  readonly before: number | null
  readonly descending: boolean
}

export interface Tokens extends Records<Token> {
  findByDigest(digest: string): MaybeAtOnce<Token | null>
  /**
   * Stores when tokens were last used, unless a later use is stored; unknown tokens are skipped. Reports no
   * change; the last second may be lost in a power cut.
   */
  noteUses(uses: readonly TokenUse[]): Promise<void>
  /** Returns when these tokens were last used, by id, in ms since the epoch; unused ones are omitted. */
  lastUses(account: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>>
}

export interface Versioned<T> {
  readonly record: T
  /** A new number after each write, never one of an earlier record with the same id. */
  readonly version: number
}

export interface Page {
  readonly offset: number
  readonly limit: number
  /** Only records after this position, whether or not a record is still there. */
  readonly after?: Position | null
}

export interface WalkStart {
  readonly after?: Position | null
  readonly descending?: boolean
}

/** A position in a list: by creation, and then by id. */
export interface Position {
  readonly at: number
  readonly id: string
}

export interface Listing<T> {
  readonly items: readonly T[]
  readonly total: number
}

/** Log entries, by gateway. The last second may be lost in a power cut, not by kill -9. */
export interface Logs {
  /**
   * Stores entries of one gateway as far as the limit allows, in any order: DELETE_OLDEST keeps the last ones
   * by time and id, STOP_INSERTING the first, so that a late entry may replace another. With more entries
   * than the limit, STOP_INSERTING removes and adds nothing. Returns how many were stored, those of a
   * repeated batch included; none if the gateway no longer exists. The batch must not change before this is
   * settled.
   */
  append(account: string, gateway: string, batch: LogBatch, limit: LogLimit): Promise<number>
  list(account: string, gateway: string, query: LogQuery): Promise<Listing<LogSummary>>
  /** Lists by time what matches among a bounded number of entries. */
  scan(account: string, gateway: string, query: LogScanQuery): Promise<LogScan>
  get(account: string, gateway: string, id: string): Promise<LogEntry | null>
  /** Changes what is said about an entry; returns it without bodies, or null if it does not exist. */
  edit(account: string, gateway: string, id: string, edit: LogEdit): Promise<LogSummary | null>
  /** Deletes what the filters match, at most `query.limit` in its order; returns how many. */
  remove(account: string, gateway: string, query: LogQuery): Promise<number>
  count(account: string, gateway: string): Promise<number>
  /** Sums up the entries that match the filters, yielding in between. */
  sum(account: string, gateway: string, query: LogSumQuery): Promise<LogSums>
  /** Marks the contents of `count` windows from `since` on, without reading them. */
  marks(account: string, gateway: string, windows: LogWindows): Promise<readonly LogMark[]>
  /** Stores the sums of a window, valid for its mark; they may get lost. */
  keepSum(account: string, gateway: string, window: MarkedWindow, sums: string): Promise<void>
  /** Returns the stored sums of windows with these marks, in their order; null for those without. */
  keptSums(
    account: string,
    gateway: string,
    windows: readonly MarkedWindow[],
  ): Promise<readonly (string | null)[]>
  /**
   * Returns up to `limit` entries in the order of storing: those after an earlier call's `end`, or the last
   * ones if `after` is null or another store's; some may then be repeated.
   */
  tail(account: string, gateway: string, after: string | null, limit: number): Promise<LogTail>
  /** Yields all entries in the order in which they were appended. */
  entries(account: string, gateway: string): AsyncIterable<readonly LogEntry[]>
}

/** Ms since the epoch, from `since` up to but not at `before`. */
/** What to say about an entry; null for nothing, and absent for what it is. */
export interface LogEdit {
  readonly feedback?: Feedback | null
  readonly score?: number | null
  readonly metadata?: Metadata | null
}

export interface LogTime {
  readonly since: number
  readonly before: number
}

export interface LogSumQuery extends Grouping {
  readonly time: LogTime
  readonly filters: readonly LogFilter[]
  /** How many of the newest entries are looked at, approximately; all by default. */
  readonly maxScanned?: number
}

export interface LogSums {
  /** The windows that have entries, by their beginning (ms since the epoch; 0 for one of all time). */
  readonly windows: ReadonlyMap<number, Cells>
  readonly scanned: number
  /** Ms since the epoch from which on nothing is missing. */
  readonly completeSince: number
}

/** The widths of windows that are marked: a minute, an hour and a day. */
export const logWidths = [60_000, 3_600_000, 86_400_000] as const

export interface LogWindows {
  /** Ms since the epoch; a multiple of the width. */
  readonly since: number
  /** Ms, one of `logWidths`. */
  readonly width: number
  readonly count: number
}

export interface LogMark {
  readonly mark: string
  /** How many entries it has at most; 0 where it has none. */
  readonly maxEntries: number
}

/** A window, and what marks its contents; ms since the epoch, and ms. */
export interface MarkedWindow {
  readonly since: number
  readonly width: number
  readonly mark: string
}

export interface LogTail {
  readonly items: readonly LogSummary[]
  /** What comes later is behind this. */
  readonly end: string
}

export interface LogLimit {
  readonly maxEntries: number
  readonly strategy: LogStrategy
  /** The `createdAt` of the gateway; by default that of the one that has its name now. */
  readonly madeAt?: number
}

export interface LogQuery extends Omit<Page, 'after'> {
  /**
   * Only what follows this position, whether or not something is still there; `total` counts all that match.
   */
  readonly after?: LogPlace | null
  readonly filters: readonly LogFilter[]
  /** Absent values come first; equal ones are ordered by creation and then id. */
  readonly orderBy: LogField
  readonly descending: boolean
}

/** A query by creation. */
export interface LogScanQuery extends Omit<LogQuery, 'orderBy' | 'offset'> {
  readonly maxScanned: number
}

export interface LogScan {
  readonly items: readonly LogSummary[]
  readonly scanned: number
  readonly next: LogPlace | null
}

/** A place in a list of log entries: by what the list is ordered by, and among equals by creation and id. */
export interface LogPlace {
  readonly value: string | number | boolean | null
  readonly createdAt: number
  readonly id: string
}

/**
 * The fields of filters and orders; `tokens` is the sum of the known ones, `metadata` all keys and values
 * joined by spaces.
 */
export const logFields = [
  'id',
  'created_at',
  'provider',
  'model',
  'path',
  'status',
  'success',
  'cached',
  'authenticated',
  'token_id',
  'user_id',
  'client_id',
  'event_id',
  'duration',
  'tokens_in',
  'tokens_out',
  'tokens',
  'cost',
  'feedback',
  'request_content_type',
  'response_content_type',
  'metadata',
] as const
export type LogField = (typeof logFields)[number]

/**
 * `neq` holds if the field equals none of the values, the others if they hold for any. A value of another
 * type equals nothing, an absent field only null. `contains` ignores ASCII case; `lt` and `gt` include the
 * bound. Text is ordered by code points.
 */
export interface LogFilter {
  readonly field: LogField
  readonly operator: 'eq' | 'neq' | 'contains' | 'lt' | 'gt'
  readonly values: readonly (string | number | boolean | null)[]
}

/**
 * Counts by key, shared by all processes and by the clock of the store. The last second may be lost in a
 * power cut, and with Redis windows of up to an hour in a restart or failover.
 */
export interface Counters {
  readonly isUnreachable: boolean
  /** Counts what one process asks for in the order of its calls. */
  spend(ask: CounterAsk): Promise<CounterReply>
}

export interface CounterAsk {
  readonly key: string
  readonly window: CounterWindow
  readonly limit: number
  /** What already happened, counted whatever the limit; negative to take back earlier counts. */
  readonly done: number
  /** The number to count if it fits under the limit, or as much of it as fits. */
  readonly wanted: number
}

/** The last `period` ms, plus up to a sixtieth; or until a fixed time, when the key starts over. */
export type CounterWindow =
  | { readonly kind: 'sliding'; readonly period: number }
  | { readonly kind: 'fixed'; readonly until: number } // ms since the epoch

export interface CounterReply {
  readonly count: number
  readonly granted: number
  /** Time until one more fits, in ms; 0 if one fits now. */
  readonly wait: number
}

/**
 * Counts of events in time slots, shared by all processes; see `tallyKinds` for how long they are kept. The
 * last second may be lost in a power cut.
 */
export interface Tallies {
  /**
   * Adds counts and occurrences, of which the last 20 per name are kept. If it rejects, some may have been
   * added.
   */
  add(tallies: readonly Tally[]): Promise<void>
  /** Returns the counts by name in the slots that begin at `since` (ms since the epoch) or later. */
  list(kind: TallyKind, scope: string, since: number): Promise<readonly TallySum[]>
  occurrences(kind: TallyKind, scope: string, name: string): Promise<readonly Occurrence[]>
}

export interface Peers {
  /** Publishes the data of this machine for `lifetime` ms, and returns that of every machine by name. */
  exchange(name: string, words: string, lifetime: number): Promise<ReadonlyMap<string, string>>
}

/** The writes of every process that uses the store, including this one. */
export interface Changes {
  /**
   * Reports each change soon after it was written, in no particular order; returns a function that
   * unsubscribes.
   */
  follow(listener: (change: Change) => void): () => void
  /** Monotonic ms until which every change is known to have been reported; normally at most 5 s old. */
  readonly knownUntil: number
}

export type RecordKind =
  | 'gateway'
  | 'model_route'
  | 'policy_set'
  | 'budget_alert_set'
  | 'custom_provider'
  | 'token'
  | 'oauth_client'
  | 'error_rule_list'
  | 'access_rule_list'
  | 'error_page'
  | 'user'
  | 'member'
  | 'oauth_grant'
  | 'signing_key'
  | 'acme_account'
  | 'certificate'
  | 'ticket_key'
  | 'token_key'
  | 'store_note'

/**
 * A change of `credential` has the kind of the removed credential as its account and the digest as its id or,
 * if all credentials of an owner were removed, `user`, `client` or `grant` and the owner's id.
 */
export type ChangeKind = RecordKind | 'account' | 'credential'

/** `everything`: some changes can no longer be told apart, so that any cached record may be outdated. */
export type Change =
  | { readonly kind: ChangeKind; readonly account: string; readonly id: string }
  | { readonly kind: 'everything' }

/** The write would have left an account without a super administrator: nothing was written. */
export class LastSuperAdministrator extends Error {
  override readonly name = 'LastSuperAdministrator'
  readonly code = 'GH_LAST_SUPER_ADMINISTRATOR'

  constructor() {
    super('the account would have no super administrator')
  }
}

/** Why a command failed, as operators and callers are told. */
export type StoreFault = 'unreachable' | 'read_only' | 'unconfirmed' | 'busy' | 'degraded'

/** What codes of SQLite and Redis mean where they respond; with any other, the store is unreachable. */
const faultsByCode: ReadonlyMap<string | null, StoreFault> = new Map([
  // The disk or memory is full, or they may not write.
  ['SQLITE_FULL', 'read_only'],
  ['SQLITE_READONLY', 'read_only'],
  ['MISCONF', 'read_only'],
  ['NOREPLICAS', 'read_only'],
  ['OOM', 'read_only'],
  // Written, but not acknowledged by the disk or by all replicas that must have it.
  ['UNCONFIRMED', 'unconfirmed'],
])

const states: Readonly<Record<StoreFault, string>> = {
  unreachable: 'store unreachable',
  read_only: 'store refuses writes',
  unconfirmed: 'store did not confirm',
  busy: 'store busy',
  degraded: 'store not trusted',
}

/** The backend could not be reached, did not reply in time, refused to write, or did not confirm a write. */
export class StoreUnreachable extends Error {
  override readonly name: string = 'StoreUnreachable'
  readonly code = 'GH_STORE_AWAY'
  readonly fault: StoreFault

  /** The code of the backend or the system, such as ECONNREFUSED; null if there is none. */
  readonly reason: string | null
  /** Whether it is certain that the command wrote nothing. */
  readonly isUndone: boolean = false
  /** Whether a change may have been made: the backend took it, and did not reply or did not confirm it. */
  readonly isDoubtful: boolean

  /** `fault` is given where the code of `cause` does not tell it. */
  constructor(cause?: unknown, fault?: StoreFault) {
    const { code, message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: unknown }
    const reason = typeof code === 'string' ? code : null
    const known = fault ?? faultsByCode.get(reason) ?? 'unreachable'
    const detail = known === 'unconfirmed' ? (message ?? reason) : reason
    super(detail === null ? states[known] : `${states[known]} (${detail})`, { cause })
    this.reason = reason
    this.fault = known
    this.isDoubtful = known === 'unconfirmed'
  }

  /** The fault in the words of a log message. */
  get state(): string {
    return states[this.fault]
  }
}

/** The backend did not accept the command: nothing was written. */
export class StoreUntouched extends StoreUnreachable {
  override readonly isUndone = true
}

/** The backend got a change, and became unreachable before it replied. */
export class StoreDoubtful extends StoreUnreachable {
  override readonly isDoubtful = true
}

/** The backend is reachable, but too busy for this command: nothing was written. */
export class StoreBusy extends StoreUntouched {
  override readonly name = 'StoreBusy'
  override readonly fault = 'busy'
  override readonly message = 'the store is busy'
}

/**
 * The backend responds but is not trusted (see `Degradation`): none of its data is used, and no write counts.
 */
export class StoreDegraded extends StoreUnreachable {
  override readonly name = 'StoreDegraded'
  override readonly fault = 'degraded'
  override readonly message: string
  override readonly isUndone: boolean
  /** What the operator must do, without a full stop. */
  readonly remedy: string

  /** `isUndone`: whether it is certain that nothing was written. */
  constructor({ code, message, remedy }: DegradedReason, isUndone = true) {
    super({ code })
    this.message = message
    this.isUndone = isUndone
    this.remedy = remedy
  }
}

/** Throws `StoreDegraded` while there is a reason not to trust the store. */
export function expectTrusted({ reasons: [first] }: Pick<Degradation, 'reasons'>): void {
  if (first !== undefined) throw new StoreDegraded(first)
}
