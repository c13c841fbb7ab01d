// The store as one interface: every promise is documented here, and both backends keep it (one contract suite runs on both).

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
import type { OAuthGrant } from '../records/oauth-grant.ts'
import type { Identity, Member, User } from '../records/people.ts'
import type {
  Account,
  AuditEntry,
  DroppedEntries,
  Gateway,
  StoredResponse,
  LogEntry,
  LogStrategy,
  LogSummary,
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
 * All that is stored. Methods reject with `StoreUnreachable` when the backend does not reply in time, and never later than its command timeout; the outcome of
 * a write is then unknown, unless stated otherwise. Writes that wait for a file which others write to may take longer, and reject with `StoreBusy` when nothing
 * was written. A write that resolved survives kill -9, and a power cut unless `durability` says otherwise.
 */
export interface Store {
  /** The location, without credentials. */
  readonly location: string
  /** Whether the backend is currently unreachable; commands then fail at once. */
  readonly isUnreachable: boolean
  /** Why writes are refused, in a sentence; null while they are accepted, as far as known. */
  readonly refusal: string | null
  /** Why changes by others are not reported at once, as a word of the backend or the system; null while they are. */
  readonly deafness: string | null
  /** Why it is not trusted although it responds. While there is a reason, changes of records reject with `StoreDegraded`. */
  readonly degradation: Degradation
  /** Device and inode of each file that it has open, for other processes that are to open the same ones; null in memory and on servers. */
  readonly openFiles: string | null
  /** What must be found in it. While it is not, reads and changes of records reject with `StoreDegraded`, and no changes are reported. */
  readonly trust: StoreTrust
  readonly accounts: Accounts
  /** Removing one removes its log entries. */
  readonly gateways: Gateways
  readonly tokens: Tokens
  readonly oauthClients: OAuthClients
  /** `everybody` owns them. */
  readonly users: Users
  readonly members: Members
  readonly credentials: Credentials
  readonly oauthGrants: OAuthGrants
  readonly authorizationEvents: AuthorizationEvents
  /** `keyOwner` owns them. */
  readonly signingKeys: Records<SigningKey>
  /** `acmeOwner` owns both. */
  readonly acmeAccounts: Records<AcmeAccount>
  readonly certificates: Records<HostCertificate>
  /** `ticketOwner` owns them. */
  readonly ticketKeys: Records<TicketKey>
  /** `tokenKeyOwner` owns it: there is one. */
  readonly tokenKeys: Records<TokenKey>
  /** What the store says of itself; `noteOwner` owns it. */
  readonly notes: Records<StoreNote>
  /** What the API has set for zones; `zoneOwner` owns it. */
  readonly errorRules: Records<ErrorRuleList>
  readonly accessRules: Records<AccessRuleList>
  readonly errorPages: Records<ErrorPage>
  readonly responses: StoredResponses
  readonly audit: AuditLog
  readonly logs: Logs
  readonly counters: Counters
  readonly tallies: Tallies
  /** Null where only one machine can have the store. */
  readonly peers: Peers | null
  readonly changes: Changes
  /** Returns the mark of the store, whether it is trusted or not; null where it holds nothing of ours. */
  mark(): Promise<Mark | null>
  /** Sets an identity where there is none, as in a store of an earlier version, and returns the mark; one of several callers wins. */
  adopt(): Promise<Seen>
  /** Takes the identity of another store whose records were all copied to this one, and a generation no lower than its. What others confirm once it resolves, they confirm knowing that. With `before`, nothing changes unless that is its identity. */
  continueAs(mark: Seen, before?: string): Promise<void>
  /** Stores the four records of a first start together, or nothing and false when there is an account already: one caller wins, however many processes start. A token key from before is replaced. */
  bootstrap(first: Bootstrap): Promise<boolean>
  /** Resolves when everything written is as safe as a write that resolved: a write that seemed lost may have been made, so callers that report its absence call this first. */
  confirm(): Promise<void>
  /** Returns in plain sentences what this set-up of the backend can lose, and whether it has lost something since it was opened, as far as that is known; empty when nothing. */
  durability(): Promise<readonly string[]>
  /** Returns in plain sentences which rights the backend's user lacks, and how to grant them; empty when none. */
  rights(): Promise<readonly string[]>
  /** Returns how many bytes the backend takes, of a server with all else that it holds; null where it does not say. */
  size(): Promise<number | null>
  /** Closes files and connections; pending commands are finished or rejected first. */
  close(): Promise<void>
}

/** What a process expects to find in the store. */
export interface StoreTrust {
  /** What was seen, and must be found; null while nothing is expected. */
  readonly seen: Seen | null
  /** Whether the store lacked it when it was last read. */
  readonly isDoubted: boolean
  /** Expects this from now on, whatever was expected before. */
  expect(seen: Seen): void
  /** Takes what another process of this machine has seen of the same store. */
  join(other: Seen): void
  /** Calls back when something else is expected than before. */
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
  /** By creation. */
  list(): Promise<readonly Account[]>
  /** Returns the id of the one that `list` has first; null where there is none. It stays the same, since accounts are not removed, and costs the same however many there are. */
  oldest(): Promise<string | null>
  /** Stores an account, and what it begins with in the same step; false, and nothing written, when the id is taken. */
  insert(account: Account, beginning?: Beginning): Promise<boolean>
  /** Sets the given members in one step, keeping all others as they are; false, and nothing written, when there is no such account, or the key of the stored response is taken. */
  update(id: string, settings: AccountSettings, together?: Together): Promise<boolean>
}

/** What is stored together with a new account, both or neither. */
export interface Beginning {
  readonly gateway: Gateway
  readonly audit: AuditEntry
}

/** The members of an account that can be changed. */
export type AccountSettings = Partial<Pick<Account, 'name' | 'enforceTwoFactor'>>

/** What a backend within this process has without waiting: requests with unknown tokens are refused for less that way. Never throws: what fails is a promise that rejects. */
export type MaybeAtOnce<T> = T | Promise<T>

/** Records of one kind, each owned by an account. */
export interface Records<T> {
  get(account: string, id: string): Promise<Versioned<T> | null>
  /** A page of those of an account, by creation and then id; `total` counts all. */
  list(account: string, page: Page): Promise<Listing<T>>
  /** Passes on those of an account in the order of `list` or in reverse, a few at a time. What exists throughout is passed on once, whatever is written meanwhile. */
  walk(account: string, from?: WalkStart): AsyncIterable<readonly T[]>
  /** False, and nothing written, when the id is taken, or the key of the stored response. */
  insert(record: T, together?: Together): Promise<boolean>
  /** Replaces the version of the record that the caller read; false, and nothing written, when that is no longer current, or the key of the stored response is taken. */
  replace(record: T, version: number, together?: Together): Promise<boolean>
  /** False, and nothing written, when there was none, or another version than the given one, or the key of the stored response is taken. */
  remove(account: string, id: string, together?: Together, version?: number): Promise<boolean>
}

/** What is written together with a record, both or neither. */
export interface Together {
  readonly audit?: AuditEntry
  readonly response?: StoredResponse
}

/**
 * E-mail addresses and identities are unique: `insert` and `replace` return false and write nothing when another user has one of them, and of any number of parallel
 * writers one wins. Both are compared byte by byte. Removing a user removes nothing else.
 */
export interface Users extends Records<User> {
  findByEmail(email: string): Promise<Versioned<User> | null>
  findByIdentity(identity: Identity): Promise<Versioned<User> | null>
  /** Returns the users with these ids, with turns for others between; ids that nobody has are left out. */
  withIds(ids: readonly string[]): Promise<readonly User[]>
}

/**
 * A user is a member of an account at most once: `insert` and `replace` of a second membership return false and write nothing. `replace` and `remove` reject with
 * `LastSuperAdministrator` and write nothing when they would take the last accepted super administrator from an account, however many writers there are. Removing a
 * member removes nothing else.
 */
export interface Members extends Records<Member> {
  find(account: string, user: string): Promise<Versioned<Member> | null>
  /** Returns the memberships of a user in all accounts, by creation and then id: the first 1,000. */
  ofUser(user: string): Promise<readonly Member[]>
}

/**
 * Sessions, links, codes and tokens, by kind and the digest of their value; values are never stored, since anything but a digest is refused. For every method an expired
 * credential does not exist, by the clock of the store, and it is deleted soon after. Writes are as durable as those of records, and parallel ones share the wait for
 * the disk. Removals are reported as changes; puts and consumptions are not, so that what can be consumed must not be cached.
 */
export interface Credentials {
  /** Takes one lookup. */
  get(kind: CredentialKind, digest: string): MaybeAtOnce<Credential | null>
  /**
   * Stores a credential, in place of the one with the same kind and digest if there is one, whose `consumedAt` stays unless it is null. With `present` it only replaces
   * one that exists and is not consumed, so that what others have ended stays ended; otherwise false, and nothing written. Takes one durable write.
   */
  put(credential: Credential, when?: 'always' | 'present'): Promise<boolean>
  /** Stores all of these as `put` does, together or not at all. Takes one durable write. */
  putAll(credentials: readonly Credential[]): Promise<void>
  /**
   * Marks a credential as consumed at a time (ms since the epoch), unless it was before; null where there is none. Of any number of parallel calls, in any number of
   * processes, exactly one is the first, and the others get its time. The credential stays until it expires.
   */
  consume(kind: CredentialKind, digest: string, at: number): Promise<Consumption | null>
  /**
   * Consumes a credential and stores what is issued for it, together or not at all, in one durable write. Of any number of parallel exchanges, in any number of processes,
   * those after the first come too late: nothing is issued, and the family ends with what it has, in the same write. Within its grace, it is exchanged again as long as the
   * refresh token that was issued for it is unused; that one and its access token end in the same write, so that a family never has two chains.
   */
  exchange(exchange: Exchange): Promise<Exchanged>
  /** Stores the end of a family, and reports it as a change of the `account` `ended_family` with its digest as `id`. Takes one durable write. */
  endFamily(end: Credential): Promise<void>
  /** Whether the end with this digest is there. Takes one lookup, and is as current as records are. */
  hasEnded(digest: string): Promise<boolean>
  /** Returns whether there was one. */
  remove(kind: CredentialKind, digest: string): Promise<boolean>
  /**
   * Removes the credentials of an owner, of all kinds or of the given ones, and returns how many there were. Once it resolves, none that was put before the call is left,
   * nor any that was put while one of those was still there; others that were put during it may be removed, too. Large numbers are removed in steps, each of them durable.
   */
  removeOf(owner: CredentialOwner, kinds?: readonly CredentialKind[]): Promise<number>
  /** Returns up to `limit` credentials of one kind and owner, consumed or not, those that expire last first. */
  list(owner: CredentialOwner, kind: CredentialKind, limit: number): Promise<readonly Credential[]>
}

/**
 * There is at most one grant with `redirectHosts` of a user for a client, an account and a list of resources: `insert` and `replace` of a second one return false and
 * write nothing, and of any number of parallel writers one wins. Removing a grant removes nothing else.
 */
export interface OAuthGrants extends Records<OAuthGrant> {
  /** Finds the one with `redirectHosts`; the resources are compared in order, byte by byte. */
  find(party: GrantParty): Promise<Versioned<OAuthGrant> | null>
  /** Returns a page of the grants of a user, or for a client, in all accounts, by creation and then id; `total` counts all. */
  ofUser(user: string, page: Page): Promise<Listing<OAuthGrant>>
  ofClient(client: string, page: Page): Promise<Listing<OAuthGrant>>
  /** Returns how many there are in all accounts, without reading them. */
  count(): Promise<number>
}

/** The last 200 events of each client, in the order in which they were appended; each is kept for 30 days from its `at`. As durable as records. */
export interface AuthorizationEvents {
  /** Appends an event, and drops the oldest of the client beyond 200, or of its unproven ones beyond 100, and those of the same user and result beyond 20; rejects with `TypeError` an event of more than 8 K characters as JSON. */
  append(event: AuthorizationEvent): Promise<void>
  /** Returns the events of a client of an account, the last one first by their time. */
  list(clientAccount: string, client: string): Promise<readonly AuthorizationEvent[]>
  /** Removes all events of a client. */
  removeOf(client: string): Promise<void>
}

/** Who consented to what client, and for what. */
export type GrantParty = Pick<OAuthGrant, 'user' | 'client' | 'account' | 'resource'>

export interface Gateways extends Records<Gateway> {
  /** Returns a page, in the order of `list`, of those of an account whose id has a text in it; `total` counts all of these. Ids are looked through without reading records. */
  search(account: string, text: string, page: Page): Promise<Listing<Gateway>>
}

export interface OAuthClients extends Records<OAuthClient> {
  /** Finds a client by its id, whatever account owns it. */
  find(id: string): Promise<OAuthClient | null>
  /** Returns a page, in the order of `list`, of those of an account that a search finds; `total` counts all of these. Names are looked through without reading records. */
  search(account: string, search: ClientSearch, page: Page): Promise<Listing<OAuthClient>>
  /**
   * Returns up to `limit` clients whose `verification.nextCheckAt` has passed by the clock of the store, the longest due first, each to only one caller, however many
   * processes ask: a client is returned again when its `nextCheckAt` was changed and has passed, or after `lease` ms.
   */
  claimDue(limit: number, lease: number): Promise<readonly Versioned<OAuthClient>[]>
  /** Extends the leases of clients to `lease` ms from now, as far as they are still due at the same time. */
  renewLeases(clients: readonly OAuthClient[], lease: number): Promise<void>
}

/** Stored responses to requests with an Idempotency-Key; written together with the records that they concern. Expired ones are not returned. */
export interface StoredResponses {
  get(account: string, key: string): Promise<StoredResponse | null>
}

/** The audit entries of accounts; they stay until they are trimmed. */
export interface AuditLog {
  /** A page by time and then id, of the entries from `since` up to but not at `before`; `total` counts those. */
  list(account: string, query: AuditQuery): Promise<Listing<AuditEntry>>
  /** Adds an entry on its own; those of writes are written together with them. An entry whose id exists already stays as it is. */
  append(entry: AuditEntry): Promise<void>
  /**
   * Removes the entries of an account that are older than the limit says, and of each actor the oldest beyond what it may have. With those of one actor the entry
   * is written that `tell` makes of them, if it does: never one without the other, and again with a higher count while more of them go. Returns those entries.
   */
  trim(account: string, limit: AuditLimit, tell: DropTeller): Promise<readonly AuditEntry[]>
}

export interface AuditLimit {
  /** Ms since the epoch: what was made before goes. */
  readonly before: number
  /** How many entries an actor may have. */
  readonly mostOf: (actor: string) => number
}

/** Makes the entry of what was dropped of an actor: for the same one always of the same id. */
export type DropTeller = (actor: string, dropped: DroppedEntries) => AuditEntry | null

export interface AuditQuery extends Page {
  /** Null for no bound. */
  readonly since: number | null
  readonly before: number | null
  /** Newest first. */
  readonly descending: boolean
}

export interface Tokens extends Records<Token> {
  findByDigest(digest: string): MaybeAtOnce<Token | null>
  /**
   * Keeps when tokens were last used, unless a later use is kept; tokens that do not exist are passed over. Their records and versions stay as they are, no change is
   * reported, and what was kept in the last second may be lost in a power cut. A token keeps its last use until it is removed.
   */
  noteUses(uses: readonly TokenUse[]): Promise<void>
  /** Returns when those tokens of an account were last used, by id, in ms since the epoch; tokens without a kept use are left out. */
  lastUses(account: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>>
}

export interface Versioned<T> {
  readonly record: T
  /** A new number after each write, and never one of a record that had this id before. */
  readonly version: number
}

export interface Page {
  readonly offset: number
  readonly limit: number
  /** Only what follows this position in the order of the list, whether or not something is there (any more); by default from the beginning. */
  readonly after?: Position | null
}

export interface WalkStart {
  readonly after?: Position | null
  readonly descending?: boolean
}

/** A position in a list: by creation, and then by id. */
export interface Position {
  /** Ms since the epoch. */
  readonly at: number
  readonly id: string
}

export interface Listing<T> {
  readonly items: readonly T[]
  readonly total: number
}

/** Log entries, by gateway. Weaker than records: what was appended in the last second may be lost in a power cut, not by kill -9. */
export interface Logs {
  /**
   * Stores entries of one gateway as far as the limit allows, in whatever order they come: with DELETE_OLDEST the last ones by time and then id, with
   * STOP_INSERTING the first ones, so that a late entry may replace another. A limit below the number of entries removes nothing with STOP_INSERTING, and
   * then nothing is added. Returns how many were stored; none if the gateway does not exist (any more), or another one has its name by now. Those of a
   * repeated batch that are already stored are not changed, and are counted. The batch must not change before this is settled.
   */
  append(account: string, gateway: string, batch: LogBatch, limit: LogLimit): Promise<number>
  list(account: string, gateway: string, query: LogQuery): Promise<Listing<LogSummary>>
  /** Lists by time what matches among a bounded number of entries. */
  scan(account: string, gateway: string, query: LogScanQuery): Promise<LogScan>
  get(account: string, gateway: string, id: string): Promise<LogEntry | null>
  /** Deletes what the filters match, at most `query.limit` in its order; returns how many. */
  remove(account: string, gateway: string, query: LogQuery): Promise<number>
  count(account: string, gateway: string): Promise<number>
  /** Sums up the entries that match the filters, with turns for others between; what is written meanwhile may be included or not. */
  sum(account: string, gateway: string, query: LogSumQuery): Promise<LogSums>
  /** Marks the contents of `count` windows from `since` on, without reading them. */
  marks(account: string, gateway: string, windows: LogWindows): Promise<readonly LogMark[]>
  /** Stores the sums of a window for as long as they are right: it has this mark. Weaker than records: they may get lost. */
  keepSum(account: string, gateway: string, window: MarkedWindow, sums: string): Promise<void>
  /** Returns the stored sums of windows with these marks, in their order; null for those without. */
  keptSums(
    account: string,
    gateway: string,
    windows: readonly MarkedWindow[],
  ): Promise<readonly (string | null)[]>
  /**
   * Returns up to `limit` entries in the order in which they were stored: those behind the `end` of an earlier call, or the last ones if `after` is null
   * or another store's; some of those may then be returned again.
   */
  tail(account: string, gateway: string, after: string | null, limit: number): Promise<LogTail>
  /** Returns all entries in the order in which they were appended, in batches; what is written meanwhile may be included or not. */
  entries(account: string, gateway: string): AsyncIterable<readonly LogEntry[]>
}

/** Ms since the epoch, from `since` up to but not at `before`. */
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
  /** How many entries were looked at, if that is bounded. */
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
  /** Two equal marks of a window mean that its entries are the same. */
  readonly mark: string
  /** How many entries it has at most; 0 where it has none. */
  readonly most: number
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
  readonly most: number
  readonly strategy: LogStrategy
  /** The `createdAt` of the gateway that the entries are of; without it, that is the one that has its name now. */
  readonly madeAt?: number
}

export interface LogQuery extends Omit<Page, 'after'> {
  /** Only what follows this position in the order of the query, whether or not something is there (any more); `total` counts all that match. */
  readonly after?: LogPlace | null
  /** All must match. */
  readonly filters: readonly LogFilter[]
  /** Absent values come first; equal ones are ordered by creation and then id. `descending` reverses all of it. */
  readonly orderBy: LogField
  readonly descending: boolean
}

/** A query by creation. */
export interface LogScanQuery extends Omit<LogQuery, 'orderBy' | 'offset'> {
  readonly maxScanned: number
}

export interface LogScan {
  readonly items: readonly LogSummary[]
  /** How many entries were looked at. */
  readonly scanned: number
  /** Where to go on; null at the end. */
  readonly next: LogPlace | null
}

/** A place in a list of log entries: by what the list is ordered by, and among equals by creation and id. */
export interface LogPlace {
  readonly value: string | number | boolean | null
  readonly createdAt: number
  readonly id: string
}

/** What entries can be filtered and ordered by; `tokens` is the sum of those that are known, `metadata` the text of all its keys and values, with a space between them. */
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
  'duration',
  'tokens_in',
  'tokens_out',
  'tokens',
  'cost',
  'request_content_type',
  'response_content_type',
  'metadata',
] as const
export type LogField = (typeof logFields)[number]

/**
 * `neq` holds when the field equals none of the values, the others when they hold for any of them. A value of another type than the field's equals nothing, and
 * an absent field equals only null. `contains` is for text and ignores ASCII case; `lt` and `gt` include the bound. Text is ordered by its code points.
 */
export interface LogFilter {
  readonly field: LogField
  readonly operator: 'eq' | 'neq' | 'contains' | 'lt' | 'gt'
  readonly values: readonly (string | number | boolean | null)[]
}

/**
 * Counts by key, with all who share the store and by its clock. Weaker than records: what was counted in the last second may be lost in a power cut, and
 * windows of up to an hour with Redis, when its server is restarted or a replica takes its place.
 */
export interface Counters {
  /** Whether counts are currently unreachable. */
  readonly isUnreachable: boolean
  spend(ask: CounterAsk): Promise<CounterReply>
}

export interface CounterAsk {
  readonly key: string
  readonly window: CounterWindow
  readonly limit: number
  /** What has happened already, and is counted whatever the limit; negative numbers are taken back. */
  readonly done: number
  /** What is counted as far as it fits under the limit after that. */
  readonly wanted: number
}

/** The last `period` ms, of which events may count up to a sixtieth longer; or all until a time, after which the same key starts over. */
export type CounterWindow =
  | { readonly kind: 'sliding'; readonly period: number }
  | { readonly kind: 'fixed'; readonly until: number } // ms since the epoch

export interface CounterReply {
  /** The current count, including what was granted. */
  readonly count: number
  /** How much of the wanted number was counted. */
  readonly granted: number
  /** Ms until one more fits; 0 when it fits now. */
  readonly wait: number
}

/**
 * How often things happened in slots of time, with all who share the store; see `tallyKinds` for how long they stay. Weaker than records: what was added in the last
 * second may be lost in a power cut.
 */
export interface Tallies {
  /** Adds to the counts of slots, and to the occurrences, of which the last 20 of each name stay. Where it rejects, some may have been added. */
  add(tallies: readonly Tally[]): Promise<void>
  /** Returns what was counted of a scope in the slots that begin at `since` (ms since the epoch) or later, by name. */
  list(kind: TallyKind, scope: string, since: number): Promise<readonly TallySum[]>
  /** Returns the last occurrences of a name, newest first. */
  occurrences(kind: TallyKind, scope: string, name: string): Promise<readonly Occurrence[]>
}

/** The machines that share the store. */
export interface Peers {
  /** Publishes the words of this machine for `lifetime` ms, and returns those of each machine by its name, this one included. */
  exchange(name: string, words: string, lifetime: number): Promise<ReadonlyMap<string, string>>
}

/** The writes of every process that shares the store, this one included. */
export interface Changes {
  /** Reports each change of a record soon after it was written, in no particular order; returns a function that unsubscribes. */
  follow(listener: (change: Change) => void): () => void
  /** Monotonic ms (performance.now) until which every change is known to have been reported. Normally it is never more than 5 s old, even if a notice is lost. */
  readonly knownUntil: number
}

/** The kinds of records, as changes name them. */
export type RecordKind =
  | 'gateway'
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
 * The kinds in changes. A change of an account has its id in both places. One of `credential` has the kind of the removed credential as its account and the digest as its id,
 * or, when all of an owner were removed, `user`, `client` or `grant` as its account and the id of that as its id.
 */
export type ChangeKind = RecordKind | 'account' | 'credential'

/** `everything`: some changes can no longer be told apart, so that everything cached may be outdated. */
export type Change =
  | { readonly kind: ChangeKind; readonly account: string; readonly id: string }
  | { readonly kind: 'everything' }

/** An account would be without a super administrator: nothing was written. */
export class LastSuperAdministrator extends Error {
  override readonly name = 'LastSuperAdministrator'
  readonly code = 'GH_LAST_SUPER_ADMINISTRATOR'

  constructor() {
    super('the account would have no super administrator')
  }
}

/** The backend could not be reached, or did not reply in time. */
export class StoreUnreachable extends Error {
  override readonly name: string = 'StoreUnreachable'
  readonly code = 'GH_STORE_AWAY'
  /** What is wrong with the store, in words for a log line. */
  readonly state: string = 'store unreachable'

  /** The word of the backend or the system for why, such as ECONNREFUSED or WRONGPASS; null where there is none. */
  readonly reason: string | null
  /** Whether it is certain that the command wrote nothing. */
  readonly isUndone: boolean = false

  constructor(cause?: unknown) {
    const { code } = (cause ?? {}) as { readonly code?: unknown }
    const reason = typeof code === 'string' ? code : null
    super(reason === null ? 'store unreachable' : `store unreachable (${reason})`, { cause })
    this.reason = reason
  }
}

/** The backend did not accept the command: nothing was written. */
export class StoreUntouched extends StoreUnreachable {
  override readonly isUndone = true
}

/** The backend is reachable, but too busy for this command: nothing was written. */
export class StoreBusy extends StoreUntouched {
  override readonly name = 'StoreBusy'
  override readonly state = 'store busy'
  override readonly message = 'the store is busy'
}

/** The backend responds but is not trusted (see `Degradation`): nothing that it holds is used, and nothing that was written counts. */
export class StoreDegraded extends StoreUnreachable {
  override readonly name = 'StoreDegraded'
  override readonly state = 'store not trusted'
  override readonly message: string
  override readonly isUndone: boolean
  /** What the operator does about it, in a sentence without a full stop. */
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
