// A row of the management API, what its handler is given, and what all handlers work on.

import type { Clock } from '../../base/clock.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { LogSeries } from '../../ai-logs/series/log-series.ts'
import type { ZoneConfig } from '../../config/model/config.ts'
import type { Logger } from '../../log/log.ts'
import type { Actor, Token } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Permission } from '../../permissions/permit.ts'
import type { TokenTags } from '../../tokens/token-tags.ts'
import type { TokenVerifier } from '../../tokens/verify.ts'
import type { ApiResponse } from '../http/envelope.ts'
import type { LimitsWatch } from '../../limits/limits-watch.ts'
import type { Attention } from '../attention/attention.ts'
import type { Instance } from '../facts/instance.ts'
import type { ProviderFacts } from '../facts/provider-facts.ts'
import type { GrantKeeper } from '../upkeep/grant-keeper.ts'
import type { BodyKind } from '../http/request-body.ts'
import type { Refusals } from './refusal-log.ts'
import type { LastingAccess } from './lasting-access.ts'
import type { Method, ApiRequest } from '../http/router.ts'
import type { WriteLimit } from './write-limit.ts'
import type { Zones } from '../facts/zone-facts.ts'

/** The paths below which rows are. */
export const account = '/client/v4/accounts/{account_id}'
export const user = '/client/v4/user'

/** What a row of the management API says of itself. */
export type Row = RowOfAny & (Reading | Writing)

interface Reading {
  readonly method: 'GET'
  readonly lastingAccess?: undefined
}

interface Writing {
  readonly method: Exclude<Method, 'GET'>
  /** What it leaves behind that would outlast the grant of an app. */
  readonly lastingAccess: LastingAccess
}

interface RowOfAny {
  readonly path: string
  /** What the caller's token must allow on the account; null where any token that reaches the account is enough. */
  readonly permission: Permission | null
  /** The OAuth scope that the caller's token must have, where it must act for a user. */
  readonly scope?: string
  /** The query parameters that are known; null where the handler knows them itself, none when left out. */
  readonly query?: readonly string[] | null
  /** What must come as the body; none when left out. */
  readonly body?: BodyKind
  /** The request header fields that it obeys beside those of every row, for the document. */
  readonly headers?: readonly ('if-match' | 'if-none-match' | 'idempotency-key')[]
}

/** A row of an account, which its path names. */
export type ApiRow = Row & {
  readonly handle: (call: Call, api: Api) => Promise<ApiResponse>
}

/** A row outside of accounts: for any token, or for those that act for a user. */
export type PlainRow = Row & {
  readonly permission: null
  readonly handle: (call: Call, api: Api) => ApiResponse | Promise<ApiResponse>
}

/** A row about the user for whom a token of OAuth acts. */
export type UserRow = Row & {
  readonly permission: null
  readonly scope: string
  readonly handle: (call: UserCall, api: Api) => Promise<ApiResponse>
}

/** A row of a zone, which its path names. */
export type ZoneRow = Row & {
  readonly permission: Permission
  readonly handle: (call: ZoneCall, api: Api) => Promise<ApiResponse>
}

/** What the management API works on. */
export interface Api {
  readonly store: Store
  readonly verifier: TokenVerifier
  /** Makes the values of tokens. */
  readonly tags: TokenTags
  /** The server keys under which client secrets are kept. */
  readonly secrets: SecretKeys
  /** Hears of every change. */
  readonly log: Logger
  readonly zones: Zones
  readonly providers: ProviderFacts
  readonly logSeries: LogSeries
  readonly instance: Instance
  readonly attention: Attention
  readonly limits: Pick<LimitsWatch, 'differences'>
  /** The URL of the authorization server; null, or left out, where there is none. */
  readonly issuer?: string | null
  /** Clears away behind what was ended. */
  readonly grants: GrantKeeper
  /** Where people reach the pages of sign-in, as URL.origin writes it; null where there are none. */
  readonly pages: string | null
  /** How much each token may change; any number where it is left out. */
  readonly writes?: WriteLimit
  /** Hears of every request that is refused for who asks, or how much. */
  readonly refusals?: Refusals
  readonly clock?: Clock
}

/** A request whose caller may ask it. */
export interface Call {
  /** That of the path; of a zone the one that owns it, and outside of accounts that of the token. */
  readonly account: string
  /** The token that asks. */
  readonly caller: Token
  readonly params: ApiRequest['params']
  readonly query: URLSearchParams
  /** The body, parsed; null where the row has none. */
  readonly body: unknown
  /** The body as it was sent. */
  readonly bytes: Buffer | null
  /** When it is asked, in ms since the epoch. */
  readonly now: number
  /** The caller's address, as `addressOf` has it, and the ray id of the request. */
  readonly address: string
  readonly ray: string
  readonly ifMatch: string | null
  /** All If-None-Match fields as one list. */
  readonly ifNoneMatch: string | null
  readonly idempotencyKey: string | null
}

/** A request about the user for whom the token acts. */
export interface UserCall extends Call {
  readonly actor: Actor
}

/** A request about a zone. */
export interface ZoneCall extends Call {
  readonly zone: ZoneConfig
}

/** Whether a row is of a method that has a body as a rule, and takes none. */
export function takesNoBody({ method, body }: Pick<Row, 'method' | 'body'>): boolean {
  return body === undefined && (method === 'POST' || method === 'PUT')
}
